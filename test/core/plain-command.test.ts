import { describe, expect, test } from 'bun:test';
import { endsImmediately, isPlainCommand } from '../../src/exec/frame.ts';

const PLAIN = [
  'true',
  'sleep 2',
  ' convert image-1.jpg  image-1.png ',
  './script.sh --name=x -v',
  '/usr/bin/make -j4 A=b',
  'echo \'a $b `c` "d" & | ; (e) #f\' "it\'s * ok"',
  'make a && make b || echo failed; echo done',
  'test -e /etc/passwd',
  'env A=b printenv A',
  'python3 run.py',
];

const NOT_PLAIN = `
$HOME/run
echo $$
echo "$HOME"
echo \`date\`
echo "a\`b\`"
sleep 1 &
a & b
a | b
(exit 3)
{ true; }
echo a > file
cat < file
cat <<X
cd /tmp && make
exit 3
exec true
eval true
trap
kill 0
set -e
umask 022
ulimit -n 10
read x
wait
jobs
times
type ls
hash
. ./file
source file
: nothing
! true
if true; then false; fi
while true; do false; done
for x in a; do true; done
f() true
function f
alias a=b
return 1
break
A=b
A=b true
A=/b true
PATH=/x/y true
~/run
echo ~
echo *
echo a?
echo [ab]
echo {a,b}
echo a\\ b
echo "a\\"
echo "a!b"
echo 'open
echo "open
true #
#true
true ;
true ; ; false
; true
&& true
true &&
true || || false
-x
%1
1
=x
'true'
"exit" 3
e"xit" 3
[ -e x ]
[[ a ]]
time true
echo é
"`
  .split('\n')
  .filter((line) => line !== '');

describe('isPlainCommand', () => {
  for (const text of PLAIN) test(`accepts: ${text}`, () => expect(isPlainCommand(text)).toBe(true));
  for (const text of NOT_PLAIN) test(`refuses: ${text}`, () => expect(isPlainCommand(text)).toBe(false));
  for (const [what, text] of Object.entries({
    'two lines': 'true\nfalse',
    'a tab': 'echo\ta',
    'a carriage return': 'true\r',
    'a line in quotes': "echo 'a\nb'",
    nothing: '',
    spaces: '   ',
    'a very long command': `echo ${'a'.repeat(5000)}`,
  }))
    test(`refuses ${what}`, () => expect(isPlainCommand(text)).toBe(false));

  test('takes less than a second for long texts', () => {
    const start = performance.now();
    for (const text of ['a '.repeat(2000), `a${' '.repeat(4000)}$`, "a ''".repeat(900), 'a;'.repeat(2000)])
      isPlainCommand(text);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe('endsImmediately', () => {
  for (const text of ['true', ' false ', 'echo a  b', 'echo \'a; sleep 1\' && true || false; echo "b && c"'])
    test(`accepts: ${text}`, () => expect(endsImmediately(text)).toBe(true));
  for (const text of [
    'sleep 1',
    'true; sleep 1',
    'echo a && /bin/true',
    "printf '%99s' a",
    'test -e /file',
    'false || make',
  ])
    test(`refuses: ${text}`, () => expect(endsImmediately(text)).toBe(false));
});
