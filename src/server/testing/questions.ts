/** A machine that every made-up estate has. */
export const KEY = 'Machine/k3s-vm-still-fawn'

const QUERIES: Readonly<Record<string, string>> = {
  '/api/resource': `?key=${encodeURIComponent(KEY)}`,
  '/api/manifest': `?key=${encodeURIComponent(KEY)}`,
  '/api/addon': '?cluster=homelab&addon=web',
  '/api/waiting-plan': '?source=homelab',
  '/api/commit-diff': '?source=homelab&commit=1f2e3d4',
  '/api/power-plan': '?target=homelab&state=off',
}

/** The address of a route under GET, with the query that it cannot do without. */
export function questionOf(path: string): string {
  return `${path}${QUERIES[path] ?? ''}`
}

/** Well formed input for every route that changes something. */
export const WISHES: Readonly<Record<string, unknown>> = {
  '/api/wishes/reconcile': {},
  '/api/wishes/approve': { keys: [KEY] },
  '/api/wishes/suspend': { key: KEY },
  '/api/wishes/resume': { key: KEY },
  '/api/wishes/adopt-drift': { key: KEY, fields: ['cpu.cores'] },
  '/api/wishes/revert-drift': { key: KEY },
  '/api/wishes/cluster': { cluster: 'homelab', order: 'pause' },
  '/api/wishes/power': { target: 'homelab', order: 'off' },
  '/api/kubeconfig': { cluster: 'homelab' },
  '/api/console': { key: KEY },
}
