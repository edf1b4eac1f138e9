import { options } from 'preact';

/**
 * The path at which the dashboard is mounted: '' at the root, or `/queues` behind a proxy that adds it. It is derived
 * from the URL of this script, so that it needs no setting.
 */
export const MOUNT = new URL('..', import.meta.url).pathname.replace(/\/$/, '');

/** Returns the origin for programs. The dashboard may have another one, which is new at each start of the server. */
export const apiOrigin = (): string => location.origin.replace(/q-\w{16}\.localhost/, '127.0.0.1');

/** Adds the mount path. */
export const mounted = (path: string): string => MOUNT + path;

/** Removes the mount path. */
export const unmounted = (path: string): string => path.slice(MOUNT.length) || '/';

/** Adds the mount path to links, so that they also work in another tab or when they are copied. */
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
