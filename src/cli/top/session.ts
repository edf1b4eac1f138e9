import { actorOf } from '../../actions/actor.ts';
import { snapshot } from '../../actions/top.ts';
import { QueueError } from '../../core/errors.ts';
import { signalNumber } from '../../core/signals.ts';
import type { Context } from '../command.ts';
import { type Bell, newBell } from './bell.ts';
import { type Follower, startFollower } from './follower.ts';
import { drawScreen, type Picture } from './frame.ts';
import { helpLines } from './help.ts';
import type { Look } from './line.ts';
import { type Action, perform } from './perform.ts';
import { press } from './press.ts';
import { linkStore, type StoreLink } from './store-link.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { record } from './throughput.ts';
import { type Effect, startUi } from './ui.ts';

/** After changes, the store is read at most once in this time. A key is handled at once. */
const READ_MS = 250;
/** The screen is drawn at least once in this time, because elapsed times change. */
const DRAW_MS = 1000;

interface Session {
  context: Context;
  link: StoreLink;
  bell: Bell;
  picture: Picture;
  follower: Follower | null;
  terminal: Terminal | null;
  /** The exit code. Null until the user or a signal ends the screen. */
  code: number | null;
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
    picture.now = Date.now();
    picture.output = session.follower?.output ?? null;
    session.terminal?.canvas.show(
      drawScreen(picture, { width: context.io.width, height: context.io.height }, look),
    );
    const drawn = performance.now();
    await bell.until(() =>
      Math.min(drawn + DRAW_MS, readAt + everyMs, bell.stale ? drawn + READ_MS : Number.POSITIVE_INFINITY),
    );
  }
  return session.code;
}

/** Reads the store. The last data stays on the screen while the store cannot be read. */
async function readStore({ link, picture, follower }: Session): Promise<void> {
  try {
    const app = await link.app();
    picture.snapshot = await snapshot(app);
    record(picture.throughput, picture.snapshot.finished, picture.snapshot.at);
    await follower?.refresh(app);
    picture.problem = null;
  } catch (error) {
    // After this error, only a new process can open the store.
    if (error instanceof QueueError && error.code === 'store-files-removed') throw error;
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
      return;
    case 'suspend':
      session.terminal?.suspend();
      return;
    case 'redraw':
      session.terminal?.canvas.forget();
      return;
    case 'unfollow':
      session.follower?.stop();
      session.follower = null;
      return;
    case 'follow':
      void showResult(session, async () => {
        const app = await session.link.app();
        // The user may have left the output before the store was open.
        const { mode } = session.picture.ui;
        if (mode.kind !== 'output' || mode.id !== effect.id) return '';
        session.follower?.stop();
        session.follower = startFollower(app, effect.id, session.bell.changed);
        return '';
      });
      return;
    default:
      void showResult(session, () => act(session, effect));
  }
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
