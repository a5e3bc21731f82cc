"""One call fails, at each place where one can: tests/check_torture.sh.

    torture.py PROGRAM LIBRARY

As the tests of curl do: tests/torture/torture.c fails the n-th call that can fail, for every n where they are few, and
otherwise for the first ten, which open files, and for a stride of the rest. A program so treated is not ended by a signal.
It ends with 0 or 1 only with the whole output and the whole file, and leaves no half file; the library of OpenMP ends a
program without memory with 1 and a message.
CHALKLINE_LONG=2: every n.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import endings                                                                          # noqa: E402

FIRST = 10                              # of one question, and as many of the rest, unless CHALKLINE_LONG


def chosen(count):
    """Which of `count` calls fail."""
    if endings.LONG > 1 or count <= 2 * FIRST:
        return range(1, count + 1)
    return [*range(1, FIRST + 1), *(FIRST + 1 + k * (count - FIRST) // FIRST for k in range(FIRST))]


def answered(name, output):
    """Output without what differs from run to run; `measure`, whose request always fails here, says why it failed."""
    return endings.without_times(re.sub(rb'(no request succeeded: ).*', rb'\1', output) if name == 'measure' else output)


def main(program, library):
    place = endings.Place(os.path.abspath(program))
    library = os.path.abspath(library)
    runs = places = 0
    for name, question in endings.QUESTIONS.items():
        words = place.words(question)
        path = endings.written(words)

        def fail_at(n):
            more = {'LD_PRELOAD': library, 'TORTURE_FAIL': str(n), 'TORTURE_COUNT': place.path('count')}
            return place.run(words, more=more)

        _, whole, _ = fail_at(0)
        made = path and endings.content(path)
        with open(place.path('count'), encoding='ascii') as file:
            count = int(file.read())
        places += count
        for n in chosen(count):
            if path and os.path.exists(path):
                os.remove(path)
            status, output, errors = fail_at(n)
            runs += 1
            here = f'{name}, call {n} of {count} fails'
            if status not in (0, 1, 2):
                place.fail(f'{here}: status {status}: {errors[:200]}')
            elif status < 2 and b'libgomp' not in errors and answered(name, output) != answered(name, whole):
                place.fail(f'{here}: status {status}, and {len(output)} of {len(whole)} bytes: {errors[:200]}')
            now = path and endings.content(path)
            if path and name != 'measure' and endings.without_times(now) != endings.without_times(made) and (now or status < 2 and b'libgomp' not in errors):
                place.fail(f'{here}: status {status}, and a file of {now and len(now)} of {len(made)} bytes')
        rest = [file for file in os.listdir(place.folder) if re.match(r'\.chalkline-', file)]
        if rest:
            place.fail(f'{name}: left {rest}')
    print(f'      {runs} of {places} calls failed')
    return place.bad > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:3]))
