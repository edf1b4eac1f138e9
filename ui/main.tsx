import { render } from 'preact';
import { Confirm } from './components/confirm.tsx';
import { Frame } from './components/frame.tsx';
import { lazy } from './components/lazy.tsx';
import { LoginPage } from './components/login-page.tsx';
import { NewJob } from './components/new-job.tsx';
import { Palette } from './components/palette.tsx';
import { Toasts } from './components/toasts.tsx';
import { Tracked } from './components/tracked.tsx';
import { startKeys } from './keys.ts';
import { startLive } from './live.ts';
import { takeToken } from './login.ts';
import { startMount } from './mount.ts';
import { editing, helpOpen, limiting, scheduling } from './overlays.ts';
import { startRouter } from './router.ts';
import { session, startSession } from './session.ts';
import { startSteady } from './steady.ts';
import { startStore } from './store.ts';
import './theme.ts';

const EditJob = lazy((pages) => pages.EditJob);
const Help = lazy((pages) => pages.Help);
const LimitsEditor = lazy((pages) => pages.LimitsEditor);
const ScheduleForm = lazy((pages) => pages.ScheduleForm);

function App() {
  if (session.value === null) return <LoginPage />;
  return (
    <>
      <Frame />
      <Tracked />
      <NewJob />
      {editing.value === null ? null : <EditJob job={editing.value} />}
      {limiting.value === null ? null : <LimitsEditor />}
      {scheduling.value === null ? null : <ScheduleForm />}
      <Palette />
      {helpOpen.value ? <Help /> : null}
      <Confirm />
      <Toasts />
    </>
  );
}

startMount();
startSession();
takeToken();
addEventListener('hashchange', takeToken);
startRouter();
startKeys();
startSteady();
startStore();
render(<App />, document.getElementById('app')!);
void startLive();
