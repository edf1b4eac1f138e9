import { type App, actorOf, closeApp, openApp } from '../../actions/app.ts';
import { JOB_ACTIONS, type JobAction } from '../../actions/jobs/job-actions.ts';
import { changeQueue } from '../../actions/queues.ts';
import { snapshot } from '../../actions/top.ts';
import { signalNumber } from '../../core/signals.ts';
import { verbFor } from '../../core/text/words.ts';
import { untilEnded } from '../../worker/recovery.ts';
import type { Context } from '../frame/command.ts';
import { dependentsPhrase } from '../print/report-action.ts';
import { newBell } from '../print/screen.ts';
import { drawScreen, helpLines, type Picture } from './frame.ts';
import type { Look } from './line.ts';
import { startFollower } from './output.ts';
import { openTerminal } from './terminal.ts';
import { record } from './throughput.ts';
import { type Effect, press, startUi } from './ui.ts';

/** After changes, the store is read at most once in this time. A key is handled at once. */
const READ_MS = 250;
/** The screen is drawn at least once in this time, because elapsed times change. */
const DRAW_MS = 1000;

interface Session {
  context: Context;
  link: ReturnType<typeof linkStore>;
  bell: ReturnType<typeof newBell>;
  picture: Picture;
  follower: ReturnType<typeof startFollower> | null;
  terminal: ReturnType<typeof openTerminal> | null;
  /** The exit code. Null until the user or a signal ends the screen. */
  code: number | null;
  /** How far the clock of the store is ahead of this host's. */
  aheadMs: number;
}

/** Shows the screen until the user or a signal ends it. Returns the exit code. */
export async function showTop(context: Context, everyMs: number, look: Look): Promise<number> {
  const bell = newBell();
  const session: Session = {
    context,
    bell,
    follower: null,
    terminal: null,
    code: null,
    aheadMs: 0,
    link: linkStore(context, bell.changed),
    picture: {
      snapshot: null,
      throughput: new Map(),
      ui: startUi(),
      output: null,
      problem: null,
      now: Date.now(),
      location: await context.storeName(),
    },
  };
  // The store opens before the screen does, so that an error is printed as in any other command.
  await session.link.app();
  try {
    session.terminal = openTerminal(context.io, {
      onKey: (key) => handleKey(session, key),
      onRedraw() {
        session.terminal?.canvas.forget();
        bell.urgent();
      },
      onEnd(signal) {
        session.code = 128 + signalNumber(signal);
        bell.urgent();
      },
    });
    return await drawUntilEnd(session, everyMs, look);
  } finally {
    session.terminal?.close();
    session.follower?.stop();
    await session.link.drop();
  }
}

async function drawUntilEnd(session: Session, everyMs: number, look: Look): Promise<number> {
  const { bell, picture, context } = session;
  let readAt = Number.NEGATIVE_INFINITY;
  while (session.code === null) {
    const sinceRead = performance.now() - readAt;
    if (sinceRead >= (bell.stale ? READ_MS : everyMs)) {
      bell.stale = false;
      await readStore(session);
      readAt = performance.now();
    }
    picture.now = Date.now() + session.aheadMs;
    picture.output = session.follower?.output ?? null;
    session.terminal?.canvas.show(drawScreen(picture, context.io, look));
    const drawn = performance.now();
    await bell.until(() =>
      Math.min(drawn + DRAW_MS, readAt + everyMs, bell.stale ? drawn + READ_MS : Number.POSITIVE_INFINITY),
    );
  }
  return session.code;
}

/** Reads the store. The last data stays on the screen while the store cannot be read. */
async function readStore(session: Session): Promise<void> {
  const { link, picture, follower } = session;
  try {
    const app = await link.app();
    picture.snapshot = await snapshot(app);
    session.aheadMs = picture.snapshot.at - Date.now();
    record(picture.throughput, picture.snapshot.finished, picture.snapshot.at);
    await follower?.refresh(app);
    picture.problem = null;
  } catch (error) {
    picture.problem = (error as Error).message;
    await link.drop();
  }
}

function handleKey(session: Session, key: string): void {
  const { picture, bell, context, follower } = session;
  const { lines, first } = follower?.output ?? { lines: [], first: 0 };
  const pressed = press(picture.ui, key, {
    snapshot: picture.snapshot,
    lines: { first, end: first + lines.length },
    helpLines: helpLines(context.io.width).length,
    page: Math.max(1, context.io.height - 2),
  });
  picture.ui = pressed.ui;
  if (pressed.effect !== null) apply(session, pressed.effect);
  bell.urgent();
}

function apply(session: Session, effect: Effect): void {
  switch (effect.do) {
    case 'quit':
      session.code = 0;
      break;
    case 'suspend':
      session.terminal?.suspend();
      break;
    case 'redraw':
      session.terminal?.canvas.forget();
      break;
    case 'unfollow':
      session.follower?.stop();
      session.follower = null;
      break;
    case 'follow':
      void showResult(session, () => followOutput(session, effect.id));
      break;
    default:
      void showResult(session, () => act(session, effect));
  }
}

async function followOutput(session: Session, id: string): Promise<string> {
  const app = await session.link.app();
  const { mode } = session.picture.ui;
  // The user may have left the output before the store was open.
  if (mode.kind === 'output' && mode.id === id) {
    session.follower?.stop();
    session.follower = startFollower(app, id, session.bell.changed);
  }
  return '';
}

async function act(session: Session, action: Action): Promise<string> {
  session.picture.ui = { ...session.picture.ui, message: `${action.do} …` };
  const message = await perform(await session.link.app(), action, actorOf(session.context.environment));
  // The store is read first, so that the lists show the result together with the message.
  await readStore(session);
  return message;
}

/** Runs work and shows its message, or its error, in the last line. */
async function showResult({ picture, bell }: Session, work: () => Promise<string>): Promise<void> {
  const message = await work().catch((error: Error) => error.message);
  if (message !== '') picture.ui = { ...picture.ui, message };
  bell.urgent();
}

/** Keeps the store open while the screen is shown. After an error, `drop` closes it, and the next `app` opens it again. */
function linkStore(context: Context, changed: () => void) {
  const { location, environment, anyOwner, storeTimeoutMs } = context;
  let app: App | null = null;
  let unwatch: ((() => void) | null)[] = [];
  /** The store that `context.app` opened. It is closed at the end of the command. */
  let first: App | null = null;
  return {
    async app(): Promise<App> {
      if (app !== null) return app;
      const options = { access: 'read', ifMissing: 'refuse', anyOwner, storeTimeoutMs } as const;
      app = first === null ? await context.app() : await openApp(location, actorOf(environment), options);
      first ??= app;
      // A change that may give workers something to do is reported in two ways, of which one may get lost.
      unwatch = [app.wakeups.onChange(changed), app.wakeups.onWake(changed)];
      return app;
    },
    async drop(): Promise<void> {
      for (const end of unwatch) end?.();
      unwatch = [];
      const old = app;
      app = null;
      if (old !== null && old !== first) await closeApp(old).catch(() => {});
    },
  };
}

type Action = Exclude<Effect, { do: 'follow' } | { do: 'quit' | 'suspend' | 'unfollow' | 'redraw' }>;

/** Runs the action that a key asked for, and returns the message to show. */
async function perform(app: App, action: Action, by: string): Promise<string> {
  if ('queue' in action) {
    const pauses = action.do === 'pause';
    await changeQueue(app, action.queue, { paused: pauses ? { at: app.clock.now(), by } : null });
    return pauses ? `paused queue ${action.queue}; running jobs continue` : `resumed queue ${action.queue}`;
  }
  const { id } = action;
  const { done, act }: JobAction = JOB_ACTIONS[action.do];
  const { changed, why, retriedAtMostOnce = [], alsoCancelled = [] } = await act(app, [id], { untilEnded });
  if (changed.length === 0) return `job ${id} ${verbFor(1, why)}`;
  const also = alsoCancelled.length === 0 ? '' : ` and ${dependentsPhrase(alsoCancelled, 'depended', 1)}`;
  const again = retriedAtMostOnce.length > 0 ? ', an at-most-once job that was started before' : '';
  return `${done} job ${id}${again}${also}`;
}
