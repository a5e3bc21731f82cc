/* Processes that answer together, over MPI: replaces ranks.c in a program built with MPI=1.
 *
 * MPI is initialized only if a launcher started the program (Open MPI's mpirun, or one that speaks
 * PMI or PMIx), so that the same program runs alone. Long messages are sent in pieces, since MPI
 * counts bytes in an int. An error of one rank is agreed on by all, so that none waits forever. */
#include "base/ranks.h"

#include <mpi.h>
#include <stdlib.h>

/* Bytes of one message; MPI counts them in an int. */
enum { MESSAGE_MOST = 1 << 30 };

/* Set by Open MPI's mpirun, by what speaks PMIx or PMI (Slurm's srun, MPICH). */
static bool launched(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK") || getenv("PMI_RANK");
}

void ranks_open(struct ranks *ranks)
{
    int level;
    *ranks = (struct ranks){ 0, 1 };
    if (!launched())
        return;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->count);
}

static bool running(void)
{
    int begun;
    MPI_Initialized(&begun);
    return begun;
}

void ranks_close(const struct ranks *ranks)
{
    (void)ranks;
    if (running())
        MPI_Finalize();
}

void ranks_abort(const struct ranks *ranks, int status)
{
    if (ranks->count > 1)
        MPI_Abort(MPI_COMM_WORLD, status);
}

bool ranks_agree(const struct ranks *ranks, bool good, struct error *error)
{
    int mine = good ? ranks->count : ranks->rank, first = mine;
    if (ranks->count == 1)
        return good;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == ranks->count)
        return true;
    MPI_Bcast(error, (int)sizeof *error, MPI_BYTE, first, MPI_COMM_WORLD);
    return false;
}

bool ranks_same(const struct ranks *ranks, uint64_t number)
{
    uint64_t low = number, high = number;
    if (ranks->count == 1)
        return true;
    MPI_Allreduce(&number, &low, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&number, &high, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    return low == high;
}

void ranks_either(const struct ranks *ranks, bool *flags, size_t count)
{
    for (size_t at = 0; ranks->count > 1 && at < count; at += MESSAGE_MOST) {
        size_t size = count - at < MESSAGE_MOST ? count - at : MESSAGE_MOST;
        MPI_Allreduce(MPI_IN_PLACE, flags + at, (int)size, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
    }
}

static void send_bytes(struct text bytes)
{
    uint64_t size = bytes.size;
    MPI_Send(&size, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
    for (size_t at = 0; at < bytes.size; at += MESSAGE_MOST) {
        size_t part = bytes.size - at < MESSAGE_MOST ? bytes.size - at : MESSAGE_MOST;
        MPI_Send(bytes.data + at, (int)part, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

static struct text receive_bytes(struct arena *arena, int rank)
{
    uint64_t size;
    MPI_Recv(&size, 1, MPI_UINT64_T, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char *data = arena_alloc(arena, size + 1);
    for (size_t at = 0; at < size; at += MESSAGE_MOST) {
        size_t part = size - at < MESSAGE_MOST ? size - at : MESSAGE_MOST;
        MPI_Recv(data + at, (int)part, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return (struct text){ data, size };
}

struct text *ranks_gather(const struct ranks *ranks, struct arena *arena, struct text mine)
{
    if (ranks->rank) {
        send_bytes(mine);
        return NULL;
    }
    struct text *all = arena_array(arena, (size_t)ranks->count, sizeof *all);
    all[0] = mine;
    for (int rank = 1; rank < ranks->count; rank++)
        all[rank] = receive_bytes(arena, rank);
    return all;
}
