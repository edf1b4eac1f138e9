import { useEffect } from 'preact/hooks';
import { EMPTY } from '../jobs/draft.ts';
import { PAGES, pageOf } from '../pages.tsx';
import { Missing } from '../parts/empty.tsx';
import { number, visible } from '../parts/format.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { CONNECTION, FRAME } from '../words/frame.ts';
import { Banner } from './banner.tsx';
import { connection, paused } from './live.ts';
import { logOut } from './login.ts';
import { apiOrigin } from './mount.ts';
import { draft, helpOpen, menuOpen, paletteOpen } from './overlays.ts';
import { place } from './router.ts';
import { counts, readOnly, server } from './store.ts';
import { nextTheme, theme } from './theme.ts';

export function Frame() {
  const found = pageOf(place.value.path);
  const title = found === null ? FRAME.notFound : (found.id ?? found.entry.title);
  useEffect(() => {
    document.title = `${title} · queuectl`;
    menuOpen.value = false;
  }, [title, place.value.path]);
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => document.getElementById('main')!.focus()}>
        {FRAME.skip}
      </button>
      <Side current={found?.entry.path ?? ''} />
      <div class="body">
        <Top title={found?.entry.title ?? FRAME.notFound} up={found?.one ? found.entry.path : null} />
        <Banner />
        <main id="main" tabIndex={-1}>
          <Content />
        </main>
      </div>
    </div>
  );
}

function Content() {
  const found = pageOf(place.value.path);
  if (found === null)
    return <Missing text={FRAME.pageNotFound(visible(place.value.path))} href="/" link={FRAME.toOverview} />;
  if (found.one !== null) return <found.one key={found.id} id={found.id!} />;
  return <found.entry.page key={found.entry.path} />;
}

/** Shortens a count, so that it fits into its line. */
const shortCount = (count: number): string =>
  count < 1000 ? number(count) : `${number(Math.floor(count / 1000))}k`;

function Side({ current }: { current: string }) {
  const dead = counts.value?.dead ?? 0;
  return (
    <nav class={menuOpen.value ? 'side open' : 'side'} aria-label={FRAME.pages}>
      <a class="brand" href="/">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" />
          <path d="M8 11h16M8 16h16M8 21h9" />
        </svg>
        queuectl
      </a>
      <ul>
        {PAGES.map(({ path, title, icon }) => (
          <li key={path}>
            <a href={path} aria-current={path === current ? 'page' : undefined}>
              <Icon name={icon} />
              {title}
              {path === '/dlq' && dead > 0 ? <span class="badge">{shortCount(dead)}</span> : null}
            </a>
          </li>
        ))}
      </ul>
      <p class="faint">
        {apiOrigin()}
        <br />
        {server.value === null ? '' : FRAME.version(server.value.version)}
        <br />
        <button type="button" class="small" onClick={() => void logOut()}>
          {FRAME.logOut}
        </button>
      </p>
    </nav>
  );
}

/** Shows the top bar. `up` is the list that the page belongs to. */
function Top({ title, up }: { title: string; up: string | null }) {
  return (
    <header class="top">
      <Tool icon="menu" label={FRAME.menu} class="menu" onClick={() => toggle(menuOpen)} />
      <span class="where">{up === null ? title : <a href={up}>{title}</a>}</span>
      {readOnly.value ? <span class="tag">{FRAME.readOnly}</span> : null}
      <button type="button" class="jump" onClick={() => toggle(paletteOpen)}>
        <Icon name="search" />
        <span>{FRAME.jumpTo}</span>
        <kbd>Ctrl K</kbd>
      </button>
      <Live />
      <Tool icon="theme" label={FRAME.theme(theme.value)} onClick={nextTheme} />
      <Tool icon="keyboard" label={FRAME.shortcuts} onClick={() => toggle(helpOpen)} />
      {readOnly.value ? null : (
        <button
          type="button"
          class="primary"
          onClick={() => {
            draft.value = EMPTY;
          }}
        >
          <Icon name="plus" />
          <span>{FRAME.newJob}</span>
        </button>
      )}
    </header>
  );
}

const toggle = (open: { value: boolean }): void => {
  open.value = !open.value;
};

function Tool(props: { icon: IconName; label: string; class?: string; onClick(): void }) {
  return (
    <button type="button" class={`plain ${props.class ?? ''}`} title={props.label} onClick={props.onClick}>
      <Icon name={props.icon} />
      <span class="hidden">{props.label}</span>
    </button>
  );
}

function Live() {
  const state = paused.value ? 'paused' : connection.value;
  return (
    <button
      type="button"
      class={`live live-${state}`}
      title={paused.value ? FRAME.resumeLive : FRAME.pauseLive}
      aria-pressed={paused.value}
      onClick={() => toggle(paused)}
    >
      <span class="dot" aria-hidden="true" />
      {CONNECTION[state]}
    </button>
  );
}
