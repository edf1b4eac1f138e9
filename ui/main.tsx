import { render } from 'preact';
import { Confirm } from './frame/confirm.tsx';
import { Frame } from './frame/frame.tsx';
import { startKeys } from './frame/keys.ts';
import { lazy } from './frame/lazy.tsx';
import { startLive } from './frame/live.ts';
import { takeToken } from './frame/login.ts';
import { LoginPage } from './frame/login-page.tsx';
import { startMount } from './frame/mount.ts';
import { editing, helpOpen, limiting, scheduling } from './frame/overlays.ts';
import { Palette } from './frame/palette.tsx';
import { startRouter } from './frame/router.ts';
import { session, startSession } from './frame/session.ts';
import { startStore } from './frame/store.ts';
import { Tracked } from './frame/tracked.tsx';
import { NewJob } from './jobs/new-job.tsx';
import { startSteady } from './parts/steady.ts';
import { Toasts } from './parts/toasts.tsx';
import './frame/theme.ts';

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
