import type {
  Chapter,
  CommitDiffOnPage,
  CourseOnPage,
  DayStrip,
  DisruptionOnPage,
  EventOnPage,
  ExcerptOnPage,
  FactorsToShow,
  Gauge,
  KeyToMake,
  Me,
  Page,
  PlanEntryOnPage,
  PowerPlanOnPage,
  ResourceDetail,
  SecurityKeyOnPage,
  SessionOnPage,
  Strip,
  WaitingRowOnPage,
} from '../src/server/api/schemas.ts'
import type { AddonTree } from '../src/server/api/workload-schemas.ts'

/** A refusal or failure of the server. */
export class Trouble extends Error {
  readonly status: number
  /** The error's short name: `second-factor`. */
  readonly code: string
  constructor(status: number, message: string, code: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

const READ_MS = 30_000

let csrf: string | undefined

async function read<T>(path: string): Promise<T> {
  // Limit the wait: on a dead connection, a browser itself waits for minutes.
  const signal = AbortSignal.timeout(READ_MS)
  return unwrap<T>(await fetch(path, { headers: { accept: 'application/json' }, signal }))
}

async function write<T>(path: string, body: unknown): Promise<T> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (csrf !== undefined) headers['x-croft-csrf'] = csrf
  return unwrap<T>(await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }))
}

async function unwrap<T>(answer: Response): Promise<T> {
  const value: unknown = await answer.json().catch(() => undefined)
  if (answer.ok) return value as T
  const { message, error = '' } = (value ?? {}) as { message?: string; error?: string }
  throw new Trouble(answer.status, message ?? `The server answered ${answer.status}.`, error)
}

function known(me: Me): Me {
  csrf = me.csrf
  return me
}

export interface LogOfPod {
  readonly cluster: string
  readonly addon: string
  readonly namespace: string
  readonly pod: string
  readonly container: string
  readonly previous: boolean
}

/** Hands lines on as they come, until the log ends or the signal calls it off. */
async function readLog(
  question: LogOfPod & { readonly tail: number; readonly follow: boolean },
  onLines: (lines: readonly string[]) => void,
  signal: AbortSignal,
): Promise<void> {
  const query = new URLSearchParams(Object.entries(question).map(([name, value]) => [name, String(value)]))
  const answer = await fetch(`/api/logs?${query.toString()}`, { signal })
  if (!answer.ok || answer.body === null) return unwrap(answer)
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let begun = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const lines = (begun + value).split('\n')
    begun = lines.pop() ?? ''
    if (lines.length > 0) onLines(lines)
  }
}

const keyed = (path: string, key: string) => `${path}?key=${encodeURIComponent(key)}`

export const api = {
  me: async () => known(await read<Me>('/api/me')),
  signIn: async (name: string, password: string) => known(await write<Me>('/api/sign-in', { name, password })),
  signOut: async () => known(await write<Me>('/api/sign-out', {})),
  secondFactor: (code: string) => write<{ message: string }>('/api/second-factor', { code }),
  beginFactor: () => write<FactorsToShow>('/api/second-factor/begin', {}),
  showKey: (answer: Readonly<Record<string, string>>) => write<{ message: string }>('/api/second-factor/key', answer),
  keys: () => read<{ keys: SecurityKeyOnPage[] }>('/api/keys'),
  beginKey: (invite: string) => write<KeyToMake>('/api/keys/begin', invite === '' ? {} : { invite }),
  addKey: (made: Readonly<Record<string, string | number>>) => write<{ message: string }>('/api/keys/add', made),
  removeKey: (id: string) => write<{ message: string }>('/api/keys/remove', { id }),
  sessions: () => read<{ sessions: SessionOnPage[] }>('/api/sessions'),
  endSession: (id: string) => write<{ message: string }>('/api/sessions/end', { id }),
  view: () => read<Page>('/api/view'),
  resource: (key: string) => read<ResourceDetail>(keyed('/api/resource', key)),
  excerpts: () => read<{ excerpts: ExcerptOnPage[] }>('/api/excerpts'),
  manifest: (key: string) => read<{ yaml?: string }>(keyed('/api/manifest', key)),
  history: (key: string | undefined) =>
    read<{ events: EventOnPage[] }>(
      key === undefined ? '/api/history?limit=100' : `${keyed('/api/history', key)}&limit=200`,
    ),
  waitingPlan: (source: string) =>
    read<{ text?: string; rows?: WaitingRowOnPage[] }>(`/api/waiting-plan?source=${encodeURIComponent(source)}`),
  commitDiff: (source: string, commit: string) =>
    read<CommitDiffOnPage>(`/api/commit-diff?${new URLSearchParams({ source, commit }).toString()}`),
  plan: () => read<{ entries: PlanEntryOnPage[]; disruption?: DisruptionOnPage }>('/api/plan'),
  powerPlan: (target: string, state: 'on' | 'off') =>
    read<PowerPlanOnPage>(`/api/power-plan?target=${encodeURIComponent(target)}&state=${state}`),
  addon: (cluster: string, addon: string) =>
    read<AddonTree>(`/api/addon?${new URLSearchParams({ cluster, addon }).toString()}`),
  log: readLog,
  timeline: () => read<{ chapters: Chapter[] }>('/api/timeline'),
  health: () => read<{ strips: Strip[]; slotMs: number; atMs: number }>('/api/health'),
  healthDays: () => read<{ strips: DayStrip[]; atMs: number }>('/api/health-days'),
  gauges: (hours: number) => read<{ gauges: Gauge[]; slotMs: number; atMs: number }>(`/api/gauges?hours=${hours}`),
  courses: (key?: string) =>
    read<{ courses: CourseOnPage[]; atMs: number }>(key === undefined ? '/api/courses' : keyed('/api/courses', key)),
  kubeconfig: (cluster: string) => write<{ message: string; yaml: string }>('/api/kubeconfig', { cluster }),
  console: (key: string, takeOver: boolean) =>
    write<{ ticket: string; message: string }>('/api/console', { key, takeOver }),
  wish: (name: string, input: unknown) => write<{ message: string; link?: string }>(`/api/wishes/${name}`, input),
}

export const OIDC_SIGN_IN = '/api/sign-in/oidc'
