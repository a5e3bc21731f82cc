"""An endpoint that misbehaves, and programs that ask it: tests/check_hostile.sh.

    hostile.py PROGRAM [MODE...]

Each mode is a way to misbehave. `measure` and `watch` must end in time, in 256 MB, with status 0, 1 or 2; their output has
no control byte, no byte that is not UTF-8, no number that is not one, and no time below zero.
"""
import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib

MEASURE, WATCH = 'measure', 'watch'
BUDGET, TIMEOUT, PATIENCE, GRACE = 2, 1, 2, 3          # s
MEMORY = 256 << 20


def event(text):
    return b'data: ' + text.encode('latin1') + b'\n\n'


def token(**more):
    return event(json.dumps({'choices': [{'index': 0, 'text': 'x'}], **more}))


DONE = event('[DONE]')
MODELS = b'{"data":[{"id":"m","max_model_len":4096}]}'
GAUGES = ('num_requests_running', 'num_requests_waiting')
COUNTERS = ('prompt_tokens_total', 'generation_tokens_total', 'request_success_total', 'time_to_first_token_seconds_sum',
            'time_to_first_token_seconds_count', 'e2e_request_latency_seconds_sum', 'e2e_request_latency_seconds_count')


def metrics(value='5', label=b'm'):
    return b''.join(b'vllm:%s{model_name="%s"} %s\n' % (name.encode(), label, value.encode()) for name in GAUGES + COUNTERS)


def bomb(line, times):
    deflate = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b''.join(deflate.compress(line * (1 << 16)) for _ in range(times)) + deflate.flush()


def series(count, label, names=1):
    return b''.join(b'vllm:%s%d{%s="%d",model_name="m"} 1\n' % (b'num_requests_running' if not i % names else b'x', i % names, label, i)
                    for i in range(count))


class Answer:
    """What one connection is sent: a page, or pieces without end."""

    def __init__(self, body=b'', kind='text/plain', head='', status='200 OK', length=None, pieces=None, pause=0):
        self.body, self.kind, self.head, self.status = body, kind, head, status
        self.length, self.pieces, self.pause = length, pieces, pause

    def send(self, to):
        if self.kind is None:                                   # bytes that are no HTTP
            to.sendall(self.body)
            return
        head = f'HTTP/1.1 {self.status}\r\nContent-Type: {self.kind}\r\nConnection: close\r\n{self.head}'
        if self.pieces is None:
            head += f'Content-Length: {len(self.body) if self.length is None else self.length}\r\n'
        to.sendall(head.encode('latin1') + b'\r\n' + self.body)
        while self.pieces:
            to.sendall(self.pieces)
            time.sleep(self.pause)


def stream(body=b'', **more):
    return Answer(body, 'text/event-stream', **more)


def good_stream():
    return stream(token() * 16 + event('{"choices":[],"usage":{"prompt_tokens":64,"completion_tokens":16}}') + DONE)


def usage(prompt, output):
    return stream(token() * 5 + event('{"choices":[],"usage":{"prompt_tokens":%s,"completion_tokens":%s}}' % (prompt, output)) + DONE)


def models(text):
    return {'/v1/models': Answer(text if isinstance(text, bytes) else text.encode())}


EVIL = '\\u001b]0;OWNED\\u0007\\u001b[2J'
TIMES = token(simulated_time=1e308) + token(simulated_time=-1e308) + DONE
ARRIVED = 'X-Simulated-Arrival: -1e308\r\n'


def clock(time_now):
    return {'/clock': Answer(b'{"virtual":true,"simulated_time":%s}' % time_now), '/v1/': stream(TIMES, head='X-Simulated-Arrival: 5\r\n')}


# A mode: who is asked, and the answer to each beginning of a path; what is missing is answered well.
EVERYWHERE = {
    'silent': Answer(pieces=b'', head='X-Wait: 1\r\n'),
    'drip': Answer(length=1000000, pieces=b'#', pause=.5),
    'headers': Answer(head='X-A: ' + 'a' * 400000 + '\r\n'),
    'redirect to a file': Answer(head='Location: file:///etc/passwd\r\n', status='302 Found'),
    'redirect for ever': Answer(head='Location: /v1/models\r\n', status='302 Found'),
    'garbage': Answer(b'\x00\xff' * 5000, kind=None),
    'no header': Answer(b'hello\n', kind=None),
    'nothing': Answer(b'', kind=None),
    'refusal': Answer(b'\x1b[31m' + b'E' * 10**6, status='500 Oops\x1b[2J'),
}
STREAMS = {
    'endless': stream(pieces=token() * 1000),
    'endless comments': stream(pieces=b': ping\n\n' * 5000),
    'slow comments': stream(pieces=b': p\n', pause=.3),
    'slow tokens': stream(pieces=token(), pause=.3),
    'one line': stream(b'data: ', pieces=b'x' * 100000),
    'wide event': stream(event('{"a":[' + '1,' * 400000 + '1]}') * 3),
    'deep event': stream(event('[' * 400000)),
    'endless refusal': Answer(status='400 No', pieces=b'E' * 100000),
    'error': stream(event('{"error":{"message":"%sbad"}}' % EVIL) * 10),
    'usage huge': usage('1e308', '-5'),
    'usage none': usage('0', '0'),
    'usage many': usage('999999999', '999999999'),
    'times': stream(TIMES, head=ARRIVED),
    'all at once': stream(token() * 20 + DONE),
    'not utf-8': stream(event('{"choices":[{"text":"\xff\xfe"}]}') * 5 + DONE),
    'cut': stream(token() * 3, length=10**6),
    'zipped': stream(gzip.compress(token() * 20 + DONE), head='Content-Encoding: gzip\r\n'),
    'not a stream': Answer(b'{"choices":[]}', 'application/json'),
    'empty': stream(),
}
PAGES = {
    'bomb': Answer(bomb(b'a 1\n', 400), head='Content-Encoding: gzip\r\n'),
    'series': Answer(series(180000, b'engine')),
    'series of one name': Answer(series(90000, b'engine')),
    'series of ranks': Answer(series(90000, b'tp_rank', 90)),
    'engines': Answer(series(1000, b'engine')),
    'ranks': Answer(series(9000, b'tp_rank', 9)),
    'evil name': Answer(metrics(label=b'\xff\xfe\x1b]0;OWNED\x07\x1b[31m\x00<script>')),
    'long line': Answer(metrics() + b'vllm:x{a="' + b'A' * (9 << 20) + b'"} 1\n'),
    'short': Answer(metrics(), length=5),
    'long': Answer(metrics(), length=10**9),
    'negative length': Answer(metrics(), length=-1),
    'huge length': Answer(metrics(), length=2**63),
    'endless page': Answer(pieces=b'a 1\n' * 10000),
    'empty page': Answer(),
    **{f'value {value}': Answer(metrics(value)) for value in ('NaN', '+Inf', '-5', '1e308', '0')},
}
MODES = [
    *((MEASURE, name, {'/': answer}) for name, answer in EVERYWHERE.items()),
    *((WATCH, name, {'/': answer}) for name, answer in EVERYWHERE.items()),
    *((MEASURE, name, {'/v1/': answer}) for name, answer in STREAMS.items()),
    *((WATCH, name, {'/metrics': answer}) for name, answer in PAGES.items()),
    (MEASURE, 'models: large', models(b'[' * 3000000)),
    (MEASURE, 'models: wide', models(b'{"data":[' + b'1,' * 1900000 + b'1]}')),
    (MEASURE, 'models: deep', models(b'{"data":' + b'[' * 1000000 + b']' * 1000000 + b'}')),
    (MEASURE, 'models: evil name', models('{"data":[{"id":"%s<script>\\n# x","max_model_len":1e308}]}' % EVIL)),
    (MEASURE, 'models: no length', models('{"data":[{"id":"m","max_model_len":0}]}')),
    (MEASURE, 'models: negative length', models('{"data":[{"id":"m","max_model_len":-1e300}]}')),
    (MEASURE, 'models: zero byte', models('{"data":[{"id":"m\\u0000x"}]}')),
    (MEASURE, 'clock far ahead', clock(b'1e308')),
    (MEASURE, 'clock far back', clock(b'-1e308')),
    (MEASURE, 'clock backwards', clock(b'7')),
    (MEASURE, 'clock that stands still', {'/clock': Answer(b'{"virtual":true,"simulated_time":5}'),
                                          '/v1/': stream(token(simulated_time=5) * 16 + DONE, head='X-Simulated-Arrival: 5\r\n')}),
]


def answer_to(answers, path):
    if path.startswith('/v1/models') and '/' not in answers and '/v1/models' not in answers:
        return Answer(MODELS)
    for begin in sorted(answers, key=len, reverse=True):
        if path.startswith(begin):
            return answers[begin]
    if path.startswith('/metrics'):
        return Answer(metrics())
    return good_stream() if path.startswith('/v1/') else Answer(status='404 Not Found')


def serve(listener, answers):
    def handle(to):
        try:
            with to:
                head = b''
                while b'\r\n\r\n' not in head:
                    piece = to.recv(65536)
                    if not piece:
                        return
                    head += piece
                head, rest = head.split(b'\r\n\r\n', 1)
                length = re.search(rb'(?i)content-length: *(\d+)', head)
                while length and len(rest) < int(length[1]):
                    rest += to.recv(65536) or b' ' * int(length[1])
                answer = answer_to(answers, head.split(b' ')[1].decode('latin1'))
                if answer.head.startswith('X-Wait'):
                    time.sleep(60)
                answer.send(to)
        except OSError:
            pass

    while True:
        try:
            to, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=handle, args=(to,), daemon=True).start()


def run(words):
    """Status, seconds, bytes of memory, and output of a program; the status is negative if it had to be killed."""
    began = time.monotonic()
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith('_proxy')}
    program = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    killer = threading.Timer(30, program.kill)
    killer.start()
    output = program.stdout.read()
    _, status, use = os.wait4(program.pid, 0)
    killer.cancel()
    return os.waitstatus_to_exitcode(status), time.monotonic() - began, use.ru_maxrss << 10, output


def faults(who, status, seconds, memory, output):
    longest = (BUDGET + TIMEOUT if who == MEASURE else PATIENCE) + GRACE
    if status not in (0, 1, 2):
        yield f'status {status}'
    if seconds > longest:
        yield f'{seconds:.1f} s of at most {longest}'
    if memory > MEMORY:
        yield f'{memory >> 20} MB of at most {MEMORY >> 20}'
    if re.search(rb'[\x00-\x08\x0b-\x1f\x7f]', output):
        yield 'a control byte'
    if re.search(rb'(?<![a-zA-Z_.])-?(nan|inf)(?![a-zA-Z])', output, re.I):
        yield 'a number that is none'
    if who == MEASURE and re.search(rb'(?<!\S)-[0-9]', output):
        yield 'a time below zero'
    if not output.strip():
        yield 'no word'
    if b'Out of memory' in output:
        yield 'words of libcurl for a head that is too large'
    try:
        output.decode()
    except UnicodeDecodeError:
        yield 'bytes that are not UTF-8'


def main(program, wanted):
    words = {MEASURE: ['--budget', f'{BUDGET}s', '--timeout', f'{TIMEOUT}s', '--isl', '64', '--osl', '16', '--loads', '1,4'],
             WATCH: ['--once', '--patience', f'{PATIENCE}s']}
    bad = runs = 0
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    for who, name, answers in MODES:
        if wanted and name not in wanted:
            continue
        listener = socket.create_server(('127.0.0.1', 0), backlog=512)
        threading.Thread(target=serve, args=(listener, answers), daemon=True).start()
        url = f'http://127.0.0.1:{listener.getsockname()[1]}'
        result = run([program, who, url, *words[who]])
        listener.close()
        runs += 1
        found = list(faults(who, *result))
        if found or wanted:
            print(f'{who}, {name}: {"; ".join(found) or "good"} ({result[1]:.1f} s, {result[2] >> 20} MB)\n    {result[3][:300]!r}')
        bad += bool(found)
    print(f'      {runs} ways to misbehave')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2:]))
