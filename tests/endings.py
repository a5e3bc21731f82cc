"""How the program ends where something runs out, is killed, or was cut: tests/check_endings.sh.

    endings.py PROGRAM [resources] [kills] [cuts]

resources  each verb with each resource that is short: status 0 or 1 only with the whole output; no signal ends it
kills      each writer, killed at random times: its file is the old one or the new one
cuts       each file that is written and read again, cut at each line: refused, or as the table of docs/formats.md says
"""
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LONG = int(os.environ.get('CHALKLINE_LONG') or 1)
SHORT_BY = int(os.environ.get('CHALKLINE_SHORT') or 1)
ON = ['--model', 'llama-3.1-8b', '--on', 'h100-sxm', '--gpus', '1']
RUNS = 'tests/fixtures/calibration/runs.csv'
SERVER = 'tests/fixtures/calibration/server.csv'
RECORDING = '# chalkline watch 1\n' + ''.join(
    f'# at {at} bytes 29\nvllm:request_success_total {at % 1000 // 5 + 1}\n' for at in range(1000, 1045, 5))

# A small question for each verb; FILE is a file that it writes, RECORD and BATCHES are files that it reads.
QUESTIONS = {
    'brief': ['brief', 'llama-3.1-8b', '--on', 'h100-sxm', '--report', 'FILE.html'],
    'step': ['step', 'llama-3.1-8b', '--on', 'h100-sxm', '--plot', 'FILE.svg'],
    'curve': ['curve', 'bound_step', 'batch=1..8', *ON, '--plot', 'FILE.svg'],
    'simulate': ['simulate', 'poisson:rate=5,count=50', *ON, '--requests', 'FILE.csv'],
    'step_time': ['step-time', 'BATCHES', *ON],
    'solve': ['solve', 'users', '--where', 'speed_per_user=30', *ON],
    'plan': ['plan', *ON[:2], '--on', 'h100-sxm', '--gpus', '1', '--report', 'FILE.html'],
    'bill': ['bill', 'agent', '--model', 'claude-opus-4-7'],
    'tiers': ['tiers', 'llama-3.1-8b', '--on', 'h100-sxm'],
    'deduce': ['deduce', 'prices', '--model', 'claude-opus-4-7', '--draws', '1000'],
    'market': ['market', 'gpt-oss-120b'],
    'can': ['can', 'qwen3-14b', '--on', 'rtx-4090'],
    'measure': ['measure', 'http://127.0.0.1:9', '--budget', '1s', '-o', 'FILE.jsonl'],
    'watch': ['watch', 'RECORD'],
    'check': ['check', RUNS],
    'calibrate': ['calibrate', RUNS, '-o', 'FILE.csv'],
    'train': ['train', 'llama-3.1-8b', '--on', 'h100-sxm', '--gpus', '8', '--tokens', '1T'],
    'life': ['life', 'llama-3.1-8b', '--served', '200T'],
    'design': ['design', '--power', '1000W'],
    'why': ['why', 'bound_step', *ON],
    'lecture': ['lecture', '2'],
    'quiz': ['quiz', '--chapter', '1', '--count', '3', '--seed', '7'],
    'find': ['find', 'arithmetic', 'intensity'],
    'eval': ['eval', 'predicted_tpot', *ON],
    'list': ['list', 'hardware'],
    'show': ['show', 'h100-sxm'],
    'import': ['import', 'tests/fixtures/qwen-7b.json'],
    'help': ['help'], 'help of a verb': ['help', 'plan'], '--version': ['--version'], 'man': ['man'],
    'completion': ['completion', 'bash'], 'reference': ['reference'],
}
NO_QUESTION = {'serve'}                 # it has no answer of its own

# Wide questions, each answered in 400 MB of memory.
MEMORY = 400 << 20
WIDE = {
    'curve': ['curve', 'batch', 'batch=1..2', '--points', '100000'],
    'quiz': ['quiz', '--count', '1000', '--seed', '1'],
    'ranks': ['eval', 'bound_step', '--model', 'deepseek-v3', '--on', 'gb200-nvl72', '--dp', '1000000'],
    'stages': ['step', 'llama-3.1-8b', '--on', 'h100-sxm', '--pp', '100000'],
    'more GPUs than there are': ['step', 'deepseek-v3', '--on', 'h100-sxm', '--dp', '1000000', '--tp', '8'],
    **({'market': ['market']} if LONG > 1 else {}),
}


def limit(kind, value):
    return lambda: resource.setrlimit(kind, (value, value))


# Resources that are short: what is done before the program starts, and changes to its environment.
SHORT = {
    'memory 20 MB': (limit(resource.RLIMIT_AS, 20 << 20), {}),
    'memory 50 MB': (limit(resource.RLIMIT_AS, 50 << 20), {}),
    'files of 200 bytes': (limit(resource.RLIMIT_FSIZE, 200), {}),
    'stack of 32 kB': (limit(resource.RLIMIT_STACK, 32 << 10), {}),
    '4 open files': (limit(resource.RLIMIT_NOFILE, 4), {}),
    'no processes': (limit(resource.RLIMIT_NPROC, 0), {}),
    'no home': (None, {'HOME': '/proc/none', 'TMPDIR': '/proc/none', 'XDG_STATE_HOME': '/proc/none'}),
}


NOT_STARTED = {False: (), True: (127,)}   # the loader found no room for the libraries


class Place:
    """A folder, and questions that are asked there."""

    def __init__(self, program):
        self.program, self.folder, self.bad = program, tempfile.mkdtemp(), 0
        self.write('record', RECORDING)
        self.write('batches.csv', 'sequences\n8*1@2000 512@0\n4*1@1000\n')

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), 'w', encoding='utf-8') as file:
            file.write(text)
        return self.path(name)

    def words(self, question, name='file'):
        fixed = {'RECORD': self.path('record'), 'BATCHES': self.path('batches.csv')}
        return [self.program, *(fixed.get(word) or re.sub('^FILE', self.path(name), word) for word in question)]

    def run(self, words, stdout=subprocess.PIPE, before=None, more=()):
        environment = {**os.environ, 'HOME': self.folder, 'XDG_STATE_HOME': self.folder, 'OMP_NUM_THREADS': '1', **dict(more)}
        with subprocess.Popen(words, stdout=stdout, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment,
                              preexec_fn=before) as program:
            try:
                output, errors = program.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                program.kill()
                output, errors = program.communicate()
                return -99, output, errors
        return program.returncode, output, errors

    def fail(self, what):
        print(what)
        self.bad += 1


def written(words):
    return next((word for word in words if re.search(r'/file\.\w+$', word)), None)


def content(path):
    try:
        with open(path, 'rb') as file:
            return file.read()
    except OSError:
        return None


def without_times(data):
    """Output without the numbers that differ from run to run: the day, and what is timed."""
    return data and re.sub(rb'[0-9.]+ (us|ms|s)\b|\d{4}-\d\d-\d\d', b'T', data)


def verbs():
    with open('ask/verbs.def', encoding='utf-8') as file:
        return set(re.findall(r'^(?:VERB|OFF_PAGE|TOOL)\((\w+),', file.read(), re.M))


def resources(place):
    for name in verbs() - set(QUESTIONS) - NO_QUESTION:
        place.fail(f'{name}: no question in tests/endings.py')
    count = 0
    for name, question in QUESTIONS.items():
        words = place.words(question)
        path = written(words)
        status, whole, errors = place.run(words)
        if status not in (0, 1) or (name != 'measure' and status):
            place.fail(f'{name}: status {status}: {errors[:200]}')
        made = path and content(path)
        # The output is lost.
        with open('/dev/full', 'wb') as full:
            for lost, before in (('full', None), ('closed', lambda: os.close(1))):
                status, _, errors = place.run(words, full, before)
                count += 1
                if status != 2 or b'could not be written' not in errors:
                    place.fail(f'{name}, output {lost}: status {status}: {errors[:200]}')
        for what, (before, more) in SHORT.items():
            if path and os.path.exists(path):
                os.remove(path)
            with open(place.path('out'), 'wb') as out:
                status, _, errors = place.run(words, out, before, more)
            output, now = content(place.path('out')), path and content(path)
            count += 1
            if status not in (0, 1, 2, *NOT_STARTED[b'loading shared libraries' in errors]):
                place.fail(f'{name}, {what}: status {status}: {errors[:200]}')
            elif status < 2 and without_times(output) != without_times(whole):
                place.fail(f'{name}, {what}: status {status}, and {len(output)} of {len(whole)} bytes: {errors[:200]}')
            if path and name != 'measure' and now is not None and without_times(now) != without_times(made):
                place.fail(f'{name}, {what}: half a file of {len(now)} of {len(made)} bytes')
        if path:
            for folder in ('/proc', place.path('none')):
                status, _, errors = place.run([word.replace(os.path.dirname(path), folder) if word == path else word for word in words])
                count += 1
                if status != 2:
                    place.fail(f'{name}, a file in {folder}: status {status}: {errors[:200]}')
        rest = [file for file in os.listdir(place.folder) if file.startswith('.chalkline-')]
        if rest:
            place.fail(f'{name}: left {rest}')
    for listens in (['serve', '--port', '0'], ['simulate', '--step-time', '10ms', '--blocks', '100', '--listen', '0']):
        with open('/dev/full', 'wb') as full:               # nobody hears where it listens
            status, _, errors = place.run([place.program, *listens], full)
        count += 1
        if status != 2 or b'could not be written' not in errors:
            place.fail(f'{listens}, output full: status {status}: {errors[:200]}')
    state, grade = place.path('answers.json'), ['quiz', '--grade', 'value:problem.2:0=4800', '--state']
    together = [subprocess.Popen([place.program, *grade, state], stdout=subprocess.DEVNULL) for _ in range(8)]
    if any([one.wait() for one in together]) or json.loads(content(state))['answers'] != len(together):
        place.fail(f'quiz, {len(together)} answers at once: {content(state)}')
    for name, question in WIDE.items():
        status, _, errors = place.run([place.program, *question], before=limit(resource.RLIMIT_AS, MEMORY))
        count += 1
        if status not in (0, 1):
            place.fail(f'{name}, wide: status {status}: {errors[:200]}')
    print(f'      {count} runs with something short')


WRITERS = {
    'calibration': ['calibrate', RUNS, '-o', 'FILE.csv'],
    'report': ['step', 'llama-3.1-8b', '--on', 'h100-sxm', '--report', 'FILE.html'],
    'picture': ['step', 'llama-3.1-8b', '--on', 'h100-sxm', '--plot', 'FILE.svg'],
    'requests': ['simulate', 'poisson:rate=5,count=200', *ON, '--requests', 'FILE.csv'],
    'metrics': ['simulate', 'poisson:rate=5,count=200', *ON, '--metrics', 'FILE.rec'],
}


def kills(place):
    dice = random.Random(7)
    count = kept = 0
    for name, question in WRITERS.items():
        words = place.words(question)
        path, old = written(words), b'old\n' * 1000
        began = time.monotonic()
        place.run(words)
        lasts = time.monotonic() - began
        new = content(path)
        for _ in range(100 * LONG // SHORT_BY):
            with open(path, 'wb') as file:
                file.write(old)
            os.chmod(path, 0o640)
            environment = {**os.environ, 'OMP_NUM_THREADS': '1'}
            with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment) as program:
                time.sleep(dice.random() * lasts * 1.1)
                program.kill()
            count += 1
            now = content(path)
            kept += now == old
            if now != old and without_times(now) != without_times(new):
                place.fail(f'{name}: killed, and the file has {now and len(now)} bytes, of {len(old)} or {len(new)}')
            if os.stat(path).st_mode & 0o777 != 0o640:
                place.fail(f'{name}: the mode of the file has changed to {os.stat(path).st_mode & 0o777:o}')
    record(place, dice)
    if not 0 < kept < count:
        place.fail(f'{kept} of {count} kills left the old file: they are too early or too late')
    print(f'      {count} kills, {kept} of them with the old file')


def record(place, dice):
    """What `watch --record` had written when it was killed is whole readings."""
    copy = place.path('copy')
    for _ in range(20 * LONG // SHORT_BY):
        with subprocess.Popen([place.program, 'watch', place.path('record'), '--record', copy], stdout=subprocess.DEVNULL) as program:
            time.sleep(.05 * dice.random())
            program.kill()
        now = content(copy) or b''
        if not re.fullmatch(rb'(# chalkline watch 1\n(# at \S+ bytes 29\n[^#]{29})*)?', now):
            place.fail(f'record: a reading was cut: {now[-100:]}')


def cut_files(place):
    """A file, the question that reads it, and whether a cut between lines may be answered."""
    calibration, machine, state = place.path('c.csv'), place.path('m.csv'), place.path('state.json')
    place.run([place.program, 'calibrate', RUNS, '-o', calibration])
    place.run([place.program, 'measure', '-o', machine])
    place.run([place.program, 'quiz', '--state', state, '--count', '1', '--seed', '7'])
    yield calibration, ['eval', 'predicted_tpot', '--model', 'qwen3-32b', '--on', 'h100-sxm', '--gpus', '2', '--calibration', 'CUT'], False
    yield SERVER, ['eval', 'predicted_tpot', '--model', 'qwen3-32b', '--on', 'h100-sxm', '--gpus', '2', '--calibration', 'CUT'], False
    yield machine, ['can', 'qwen3-8b', '--on', 'CUT'], False
    if os.path.exists(state):
        yield state, ['quiz', '--state', 'CUT', '--count', '1', '--seed', '7'], False
    yield place.path('record'), ['watch', 'CUT'], True


def cuts(place):
    count = 0
    for path, question, harmless in cut_files(place):
        whole = content(path)
        lines = whole.splitlines(keepends=True)
        cut = place.path('cut' + os.path.splitext(path)[1])
        ends = [sum(map(len, lines[:n])) for n in range(len(lines))]
        inside = [end + len(line) // 2 for end, line in zip(ends, lines)]
        for size in [*ends, *inside]:
            with open(cut, 'wb') as file:
                file.write(whole[:size])
            status, output, errors = place.run([place.program, *(cut if word == 'CUT' else word for word in question)])
            count += 1
            if status == 2 and errors.startswith(b'chalkline: '):
                continue
            if not harmless or status != 0:
                place.fail(f'{os.path.basename(path)}, {size} of {len(whole)} bytes: status {status}: {output[:100]} {errors[:200]}')
            elif size in inside and size > len(lines[0]) and b'in the middle of this reading' not in output:
                place.fail(f'{os.path.basename(path)}, {size} of {len(whole)} bytes: the cut is not told: {output[-200:]}')
    print(f'      {count} cut files')


def main(program, parts):
    place = Place(os.path.abspath(program))
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        for part in (resources, kills, cuts):
            if not parts or part.__name__ in parts:
                part(place)
    finally:
        shutil.rmtree(place.folder)
    return place.bad > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2:]))
