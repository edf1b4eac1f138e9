import { describe, expect, test } from 'bun:test';
import { isSecretName, secretIn, secretWarnings } from '../../src/core/secrets.ts';

describe('names of variables', () => {
  const SECRET = `PASSWORD DB_PASSWORD PGPASSWORD MYSQL_PWD SMTP_PASS SSHPASS DB_PASSWD GPG_PASSPHRASE TOKEN GITHUB_TOKEN
    NPM_TOKEN authToken access_token AWS_SECRET AWS_SECRET_ACCESS_KEY AWS_SECRET_KEY AWS_SESSION_TOKEN CLIENT_SECRET
    clientSecret SECRET_KEY_BASE SECRET API_KEY STRIPE_API_KEY apiKey OPENAI_APIKEY PRIVATE_KEY ENCRYPTION_KEY_2 password
    db-password DB_PASSWORD_OLD TOKENS SECRETS DB_PASSWORDS API_KEYS PASSWORDS SSH_KEY DEPLOY_KEY LICENSE_KEY APP_KEY
    GITHUB_PAT AZURE_DEVOPS_PAT JWT SESSION_JWT COOKIE SESSION_COOKIE AUTH_COOKIES AUTHORIZATION HTTP_AUTHORIZATION BEARER
    SENTRY_DSN DSN SLACK_WEBHOOK SLACK_WEBHOOK_URL DISCORD_WEBHOOK_URI TEAMS_WEBHOOKS WEBHOOK_URL_2 CREDENTIALS
    AWS_CREDENTIALS DB_CREDS BASIC_AUTH REDISCLI_AUTH CONNECTION_STRING privateKey PRIVATEKEY ACCESSKEY PASSCODE`;
  const PLAIN = `PATH HOME PWD OLDPWD OLD_PWD LD_LIBRARY_PATH token_count TOKEN_COUNT MAX_TOKENS MAX_TOKEN TOKENIZERS_PARALLELISM
    TOKEN_URL TOKEN_FILE PASSWORD_FILE PASSWORD_MIN_LENGTH ALLOW_EMPTY_PASSWORD USE_TOKEN KEY KEYRING keyring KEYS
    PRIMARY_KEY SORT_KEY AWS_ACCESS_KEY_ID BYPASS PASS COMPASS SECRETARY SECRET_NAME SECRETS_DIR MONKEY PUBLIC_KEY NO_PASSWORD
    AUTHOR GOOGLE_APPLICATION_CREDENTIALS A _ 1 KEYBOARD KEYBOARD_LAYOUT TURKEY HOTKEY HOT_KEY CACHE_KEY FOREIGN_KEY
    NUM_TOKENS PROMPT_TOKENS TOTAL_TOKENS COOKIE_NAME COOKIE_DOMAIN WEBHOOK_PORT WEBHOOK_TIMEOUT WEBHOOK_ENABLED PAT PATTERN
    JWT_ISSUER AUTH AUTH_MODE AUTHORIZATION_URL PASSWORDLESS DATABASE_URL MONGO_URI HOMEPAGE_URL DSNAME STRING`;
  test.each(SECRET.split(/\s+/))('%s is the name of a secret', (name) =>
    expect(isSecretName(name)).toBe(true),
  );
  test.each(PLAIN.split(/\s+/))('%s is not the name of a secret', (name) =>
    expect(isSecretName(name)).toBe(false),
  );
});

describe('commands', () => {
  test.each([
    ['PASSWORD=hunter2 ./deploy', 'PASSWORD'],
    ['mysql -u root --password=hunter2 db', '--password'],
    ['mysql --password=hunter2', '--password'],
    ['login --user me --password hunter2', '--password'],
    ["login --password 'two words'", '--password'],
    ["login '--password=two words'", '--password'],
    ["login --password 'x'", '--password'],
    ['TOKEN=abc123 curl example.org', 'TOKEN'],
    ['export AWS_SECRET_ACCESS_KEY=abc; aws s3 ls', 'AWS_SECRET_ACCESS_KEY'],
    ['cd /x && API_KEY="abc" make', 'API_KEY'],
    ["curl 'https://example.org/?id=1&token=abc'", 'token'],
    ['kubectl create secret generic db --from-literal=password=hunter2', 'password'],
    ['curl -H "Authorization: Bearer abc.def"', 'Authorization'],
    ['git clone https://me:hunter2@example.org/x.git', 'the password of a URL'],
    ['sh -c "deploy --api-key abc"', '--api-key'],
    ['A=1 password=x y', 'password'],
    ['COOKIE=abc123 ./fetch', 'COOKIE'],
    ["curl --cookie 'session=abc' example.org", '--cookie'],
    ['GITHUB_PAT=abc gh pr list', 'GITHUB_PAT'],
    ['psql https://example.org postgres://me:hunter2@db/x', 'the password of a URL'],
    ["redis-cli -u 'redis://:hunter2@cache'", 'the password of a URL'],
    ['psql postgres://me:hun@ter2@db/x', 'the password of a URL'],
    [`x --token "${'a'.repeat(5000)}"`, '--token'],
  ])('%s contains the secret %s', (command, found) => expect(secretIn(command)).toBe(found));

  test.each([
    'mysql --password="$PW"',
    "mysql --password='$PW'",
    'mysql --password=$PW',
    `mysql --password=\${PW} db`,
    'mysql --password $PW db',
    'mysql --password="$(cat pw)" db',
    'mysql --password=`cat pw`',
    'mysql --password',
    'mysql --password --user me',
    'mysql --password=',
    'login --password-file /run/pw',
    'login --token @/run/token',
    'login --token /run/secrets/token',
    'login --password - <pw',
    'login --password <pw',
    'TOKEN=$TOKEN make',
    'TOKEN= make',
    'TOKEN="" make',
    "git commit -m 'password reset'",
    "git commit -m 'a token for you'",
    'grep password= access.log',
    "grep 'token=' access.log",
    'gpg --keyring x --verify y',
    './count --token_count=5 token_count=7',
    'llm --max-tokens 500 --max-tokens=500',
    'PATH=/bin:/usr/bin ls',
    'docker secret create db file',
    'curl -H "Authorization: Bearer $TOKEN" https://example.org/a@b',
    'git clone https://$USER:$PW@example.org/x.git',
    'ssh me@example.org passwd',
    'sort --key=2 --key 3',
    'rsync -a user@host:/secret/dir .',
    'curl https://example.org/password/reset?user=me',
    'make PASS=1 KEY=2 test',
    'app --allow-empty-password=yes --use-token true',
    'curl --cookie jar.txt example.org',
    'gpg --recv-keys ABCD --default-key me',
    'sync --ssh-key ~/.ssh/id --cache-key v2',
    'curl http://localhost:8080/a@b http://user@host:22/',
    '',
  ])('%s contains no secret', (command) => expect(secretIn(command)).toBeNull());
});

test('a warning suggests --secret-env and never contains the secret', () => {
  const warningsFor = (input: Parameters<typeof secretWarnings>[0]): string =>
    secretWarnings(input).join('\n');
  expect(warningsFor({ command: 'true', env: { A_TOKEN: 'hunter2' } })).toMatch(
    /A_TOKEN .*--secret-env A_TOKEN/,
  );
  expect(warningsFor({ argv: ['x', '--password', 'hunter2'] })).toMatch(/\(--password\).*--secret-env NAME/);
  expect(warningsFor({ command: 'true', hooks: { dead: 'tell --token=hunter2' } })).toMatch(/--token/);
  for (const input of [{ command: 'x --token=hunter2' }, { env: { TOKEN: 'hunter2' } }])
    expect(warningsFor(input)).not.toContain('hunter2');
  expect(secretWarnings({ command: 'true', env: { TOKEN: '', PATH: '/bin' } })).toEqual([]);
  expect(secretWarnings({ command: 'x --password="$PW"' })).toEqual([]);
});

test('a job gets one warning about its variables and one about its command', () => {
  const [variable, command, ...more] = secretWarnings({
    command: 'mysql --password=other',
    env: { DB_PASSWORD: 'hunter2' },
  });
  expect(variable).toContain('DB_PASSWORD');
  expect(command).toContain('(--password), and it is stored and shown as is');
  expect(more).toEqual([]);
});

test('the warning about the password of a URL says that it is masked when shown', () => {
  const [warning] = secretWarnings({ command: 'psql postgres://me:hunter2@db/x' });
  expect(warning).toContain('stored as is, but masked when shown');
});
