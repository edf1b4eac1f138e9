import { options } from 'preact';

/**
 * Where the dashboard is mounted: '' at the root, `/queues` behind a proxy that adds it. Nobody has to say so: it is where
 * this script came from.
 */
export const MOUNT = new URL('..', import.meta.url).pathname.replace(/\/$/, '');

/** A path of ours, as the browser has to ask for it. */
export const mounted = (path: string): string => MOUNT + path;

/** The same, the other way round. */
export const unmounted = (path: string): string => path.slice(MOUNT.length) || '/';

/** Links are written as paths of ours; opened in another tab or copied, they have to lead here too. */
export function startMount(): void {
  if (MOUNT === '') return;
  const before = options.vnode;
  options.vnode = (vnode) => {
    const props = vnode.props as { href?: unknown };
    if (vnode.type === 'a' && typeof props.href === 'string' && props.href.startsWith('/'))
      props.href = mounted(props.href);
    before?.(vnode);
  };
}
