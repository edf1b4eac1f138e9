import { type CommandDetails, inGroup } from './command.ts';
import { jobFlags } from './job-flags.ts';

export const enqueueDetails = (): CommandDetails => ({
  flags: {
    ...jobFlags(),
    ...inGroup('What to run', {
      file: {
        value: 'FILE',
        help: 'read jobs from a file (- for standard input): a JSON array, JSON lines, or one command per line',
      },
      again: { value: 'ID', help: 'add a new job with the definition of this one; other flags change it' },
      template: {
        value: 'TEXT',
        help: 'with --file: run this command for each line, with {} replaced by the line',
      },
      stream: { help: 'with --file: store each line as soon as it arrives, and print its id at once' },
    }),
    ...inGroup('Output', {
      wait: { help: 'wait until the job finishes and exit with its exit code' },
      follow: { short: 'f', help: 'like --wait, but also print the output of the job' },
      'wait-timeout': {
        value: 'TIME',
        help: 'like --wait, but stop waiting after this time (the job continues)',
      },
    }),
  },
  examples: [
    '# Run a shell command',
    "queuectl enqueue 'tar czf /tmp/home.tgz ~'",
    '# Run a program without a shell',
    "queuectl enqueue -- rsync -a 'my files/' host:backup/",
    '# Describe the job in JSON',
    'queuectl enqueue \'{"id":"job1","command":"sleep 2","max_retries":5}\'',
    '# Set a priority and a timeout',
    "queuectl enqueue --priority high --timeout 5m 'make report'",
    '# Wait for the result',
    "queuectl enqueue --wait 'make test' && echo passed",
    '# Add many jobs from a file',
    'queuectl enqueue --file jobs.jsonl',
    '# Run a finished job again as a new job',
    'queuectl enqueue --again job1 --priority high',
    '# Add one job for each line of standard input',
    "ls *.jpg | queuectl enqueue --file - --template 'gzip -- {}'",
    '# Keep one process open for a loop',
    "tail -f names.txt | queuectl enqueue --file - --stream --template 'gzip -- {}'",
    '# Run the job after other jobs',
    "queuectl enqueue --after build,any:lint './publish'",
    '# Make the command safe to repeat',
    "queuectl enqueue --idempotency-key order-4711 'make invoice'",
    '# Pass standard input and a secret',
    "queuectl enqueue --stdin @letter.txt --secret-env TOKEN './send-mail ana'",
    '# Run a hook if the job becomes dead',
    "queuectl enqueue --on-dead './notify \"$QUEUECTL_HOOK_JOB_ID\"' 'make report'",
  ],
  notes: [
    'An argument that starts with { or [ is read as JSON, and @FILE is the same as --file FILE. Any other argument is a shell command. The program after -- runs without a shell.',
    'If any job in a file is invalid, none of the jobs are added. Empty lines and lines that start with # are skipped. Jobs in the same file or JSON array can depend on each other: "depends_on": ["a", {"id": "b", "on": "any"}].',
    'With --template, queuectl replaces {} with the line, quoted for the shell. Do not write quotes around {}. The shell does not interpret special characters in the line, unless the command passes it to another shell (eval, sh -c, ssh). Lines that start with # are not skipped. Write \\{} for a literal {}. If a line could start with a dash, write ./{} for a file name, or put -- in front of {}.',
    'With --stream, each line is added on its own: a JSON object, a command, or a value for --template. The id of each job, or the job with --json, is printed as soon as the job is stored. A line that is invalid adds nothing. It is reported with its number, the next lines are still added, and the exit code at the end of the input is not 0.',
    'A job added with --again has its own id, is due at once and waits for no other job. Everything else is the same, unless a flag changes it.',
    'Use --idempotency-key if you may have to repeat the command, for example after a lost connection. The key covers all jobs that the command adds. It is an error to use the same key for different jobs.',
    'Shell commands and the values of --env are stored in plain text. Use --secret-env for secrets.',
    "See 'queuectl help retries' for the retry rules and 'queuectl help hooks' for hooks.",
  ],
});
