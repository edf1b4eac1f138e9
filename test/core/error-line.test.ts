import { describe, expect, test } from 'bun:test';
import { errorLine } from '../../src/core/text/error-line.ts';

describe('the error line without an error report', () => {
  test.each([
    ['', ''],
    ['\n\n \t\n', ''],
    ['one', 'one'],
    ['one\ntwo\n', 'two'],
    ['one\r\ntwo\r\n\r\n', 'two'],
    ['10 %\r50 %\r100 %', '100 %'],
    ['one\n  two  \n \n\t\n', 'two'],
    ['one\n\x00\x07\x1b\n', 'one'],
    ['größe 🎉\n', 'größe 🎉'],
    ['sh: 1: nope: not found\n', 'sh: 1: nope: not found'],
    ['+ cp a b\ncp: cannot stat a\n', 'cp: cannot stat a'],
    ['Node.js v24.21.0\n', 'Node.js v24.21.0'],
  ] as const)('of %j is the last line that is not blank: %j', (output, line) => {
    expect(errorLine(output)).toBe(line);
  });

  test('has no control characters', () => {
    const every = Array.from({ length: 0xa0 }, (_, i) => `${String.fromCharCode(i)}x`).join('');
    const control = /[\u0000-\u001f\u007f-\u009f]/;
    expect(errorLine(every)).not.toMatch(control);
    expect(errorLine('a\x1b[31mred\tb')).not.toMatch(control);
  });
});

const STACK = '    at f (/app/a.js:1:7)\n    at node:internal/main:51:3';

describe('the message of an error report', () => {
  test.each([
    [
      'Node',
      `[eval]:1\nthrow new Error("boom")\n^\n\nError: boom\n${STACK}\n\nNode.js v24.21.0\n`,
      'Error: boom',
    ],
    [
      'Node, an error with properties and a cause',
      `node:fs:573\n  return open(\n         ^\n\nError: ENOENT: no such file\n${STACK} {\n  code: 'ENOENT',\n  [cause]: Error: why\n  ${STACK}\n}\n\nNode.js v20.20.2`,
      'Error: ENOENT: no such file',
    ],
    [
      'Node, a thrown string',
      '[eval]:1\nthrow "boom"\n^\nboom\n(Use `node --trace-uncaught ...` to show where the exception was thrown)\n\nNode.js v24.21.0',
      'boom',
    ],
    ['Node, a printed error', `working\nTypeError: a\nb\n${STACK} {\n  code: 'E1'\n}\n`, 'TypeError: a'],
    [
      'Bun',
      '1 | throw new Error("boom")\n              ^\nerror: boom\n code: "E"\n\n      at /app/[eval]:1:11\n\nBun v1.4.4 (Linux x64)',
      'error: boom',
    ],
    [
      'Python',
      'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n    ~^^\nValueError: one\n  two\n[SQL: x]\n',
      'ValueError: one',
    ],
    [
      'Python, a chain',
      'Traceback (most recent call last):\n  File "a"\nKeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "a"\napp.errors.JobFailed: no\n',
      'app.errors.JobFailed: no',
    ],
    [
      'Python, no message',
      'Traceback (most recent call last):\n  File "a"\nKeyboardInterrupt\n',
      'KeyboardInterrupt',
    ],
    [
      'Ruby',
      "a.rb:1:in 'foo': boom (RuntimeError)\n\tfrom a.rb:3:in '<main>'\n",
      "a.rb:1:in 'foo': boom (RuntimeError)",
    ],
    [
      'Ruby, with the source',
      "a.rb:1:in '<main>': undefined method 'x' for nil (NoMethodError)\n\nnil.x\n   ^^\n",
      "a.rb:1:in '<main>': undefined method 'x' for nil (NoMethodError)",
    ],
    [
      'Go',
      'panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/a.go:4 +0x25\nexit status 2\n',
      'panic: boom',
    ],
    [
      'Java',
      'Exception in thread "main" java.lang.RuntimeException: outer\n\tat M.main(M.java:1)\nCaused by: java.lang.IllegalStateException: inner\n\tat M.main(M.java:1)\n\t... 1 more\n',
      'Caused by: java.lang.IllegalStateException: inner',
    ],
    [
      'Rust',
      "thread 'main' panicked at src/main.rs:2:5:\nboom\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
      'boom',
    ],
    [
      'PHP',
      'PHP Fatal error:  Uncaught Exception: boom in /a.php:3\nStack trace:\n#0 {main}\n  thrown in /a.php on line 3\n',
      'PHP Fatal error:  Uncaught Exception: boom in /a.php:3',
    ],
    [
      '.NET',
      'Unhandled exception. System.Exception: boom\n   at Program.Main()\n',
      'Unhandled exception. System.Exception: boom',
    ],
    [
      'npm',
      'npm error Missing script: "x"\nnpm error\nnpm error A complete log of this run can be found in: /l/a.log\n',
      'npm error Missing script: "x"',
    ],
    [
      'Python, the fields of a validation error',
      'Traceback (most recent call last):\n  File "a"\nval.Error: 1 error for M\nuser.age\n  Input should be a number\n',
      'val.Error: 1 error for M',
    ],
    [
      'Go, several goroutines',
      'panic: boom [recovered]\n\tpanic: again\n\ngoroutine 1 [running]:\nmain.(*T).f(0xc0, {0x1, 0x2})\n\t/app/a.go:4 +0x25\ncreated by main.main in goroutine 1\n\t/app/a.go:9 +0x1\n',
      'panic: boom [recovered]',
    ],
    [
      'Rust, with a backtrace',
      "thread 'main' panicked at src/main.rs:2:5:\nboom\n  left: 1\nstack backtrace:\n   0: std::panicking\nnote: Some details are omitted\n",
      'boom',
    ],
    [
      'npm, a missing file',
      'npm error code ENOENT\nnpm error syscall open\nnpm error path /a\nnpm error errno -2\nnpm error enoent Could not read package.json: Error: ENOENT: no such file\nnpm error enoent This is related to npm not being able to find a file.\nnpm error enoent\nnpm error A complete log of this run can be found in: /l/a.log\n',
      'npm error enoent Could not read package.json: Error: ENOENT: no such file',
    ],
    [
      'npm, a missing script with advice',
      'npm error Missing script: "x"\nnpm error\nnpm error To see a list of scripts, run:\nnpm error   npm run\n',
      'npm error Missing script: "x"',
    ],
    [
      'npm, a failed script of Node',
      `> b\n> node y\n\na.js:1\nf()\n^\n\nError: cannot find y\n${STACK}\n\nNode.js v24.21.0\nnpm error code 1\nnpm error path /a\nnpm error command failed\nnpm error command sh -c node y\n`,
      'Error: cannot find y',
    ],
    [
      'npm 6, a failed script',
      'disk full\nnpm ERR! code ELIFECYCLE\nnpm ERR! errno 1\nnpm ERR! x@1.0.0 b: `sh y`\nnpm ERR! Exit status 1\n',
      'disk full',
    ],
    [
      'npm, a failed script that printed nothing',
      '> b\n> false\n\nnpm error code 1\nnpm error command failed\n',
      'npm error command failed',
    ],
    [
      'make',
      'cc a.c\na.c:1: error: no\nmake[1]: *** [Makefile:2: a.o] Error 1\nmake: *** [all] Error 2\n',
      'a.c:1: error: no',
    ],
    [
      'make, no rule',
      "make: *** No rule to make target 'x'.  Stop.\n",
      "make: *** No rule to make target 'x'.  Stop.",
    ],
    [
      'yarn',
      'boom\nerror Command failed with exit code 1.\ninfo Visit https://yarnpkg.com/en/docs/cli/run\n',
      'boom',
    ],
    ['pnpm', 'boom\n ELIFECYCLE  Command failed with exit code 1.\n', 'boom'],
    ['bun run', 'boom\nerror: script "b" exited with code 1\n', 'boom'],
    ['Perl', 'boom at -e line 1.\n', 'boom at -e line 1.'],
  ] as const)('is found: %s', (_language, output, line) => {
    expect(errorLine(output)).toBe(line);
  });

  test.each([
    ['Node', `a.js:1\nf()\n^\n\nError: retrying\n${STACK}\n\nNode.js v24.21.0`],
    ['Node, a printed error', `Error: retrying\n${STACK}`],
    ['Python', 'Traceback (most recent call last):\n  File "a"\nConnectionError: retrying'],
    ['Go', 'panic: retrying\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/a.go:4 +0x25'],
    ['Rust', "thread 'main' panicked at src/main.rs:2:5:\nretrying\nnote: run with `RUST_BACKTRACE=1`"],
    ['Ruby', "a.rb:1:in 'foo': retrying (RuntimeError)\n\tfrom a.rb:3:in '<main>'"],
    ['PHP', 'PHP Fatal error:  Uncaught retrying\nStack trace:\n#0 {main}\n  thrown in /a.php on line 3'],
    ['Elixir', '** (RuntimeError) retrying\n    a.ex:1: A.b/0'],
    ['Java', 'java.lang.Exception: retrying\n\tat M.main(M.java:1)'],
    ['npm', 'npm error code 1\nnpm error retrying'],
    ['make', 'make: *** [Makefile:2: retrying] Error 1'],
  ] as const)('is the last line if the command went on after an error: %s', (_language, report) => {
    expect(errorLine(`${report}\nretry ok\nfatal: disk full\n`)).toBe('fatal: disk full');
  });

  test('is searched for in 16 KiB of repeated text within five seconds', () => {
    const start = performance.now();
    for (const piece of [
      '    at x\n',
      '^\n',
      'a.b.c',
      'Caused by: ',
      '\n',
      'goroutine 1 [\n',
      '}\n',
      'panic: a\ngoroutine 1 [\n',
      'npm error\n',
    ])
      errorLine(piece.repeat(16_384 / piece.length));
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
