/* embed NAME FILE... -- write C that holds the files: `const struct embedded NAME[]`. */
#include <stdio.h>

static int write_bytes(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (!in) {
        perror(path);
        return 1;
    }
    int c;
    for (size_t i = 0; (c = getc(in)) != EOF; i++)
        printf(i % 24 ? "%d," : "\n%d,", c);
    fclose(in);
    return 0;
}

int main(int count, char **words)
{
    if (count < 2)
        return 2;
    printf("#include \"base/embedded.h\"\n");
    for (int i = 2; i < count; i++) {
        printf("static const unsigned char file_%d[] = {", i);
        if (write_bytes(words[i]))
            return 1;
        printf("\n0};\n");
    }
    printf("const struct embedded %s[] = {\n", words[1]);
    for (int i = 2; i < count; i++)
        printf("    { \"%s\", (const char *)file_%d, sizeof file_%d - 1 },\n", words[i], i, i);
    printf("    { 0, 0, 0 }\n};\n");
    return 0;
}
