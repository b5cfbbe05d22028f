import { LIMITS } from '../../lib/limits.ts'
import { whyFetchFailed } from '../../lib/why-fetch-failed.ts'
import { chosenContext, readContexts } from '../contexts.ts'
import { note, styleOf, writeData } from '../output.ts'
import { renderTable } from '../render/table.ts'
import { clean, cleanLines } from '../render/text.ts'
import type { Runtime } from '../runtime.ts'
import { resolveKey } from '../select.ts'
import { CliError, EXIT, type ExitCode, type Options, UsageError, type Verb } from '../verb.ts'

/** Wishes by their name in the API. */
const WISHES: Readonly<Record<string, string>> = {
  reconcile: 'reconcile',
  suspend: 'suspend',
  resume: 'resume',
  approve: 'approve',
  adopt: 'adopt-drift',
  revert: 'revert-drift',
}

/** Asks the running controller for what its page can ask for, over its API. */
export const run: Verb = async (runtime, [what = '', resource], options) => {
  if (what === 'sessions') return listSessions(runtime, options)
  if (what !== 'plan' && what !== 'end-session' && WISHES[what] === undefined)
    throw new UsageError(
      `croft ask ${what} is not known. Use one of ${Object.keys(WISHES).join(', ')}, plan, sessions, end-session.`,
    )
  if (resource === undefined && what !== 'reconcile')
    throw new UsageError(
      what === 'end-session'
        ? 'Name the session by its id: croft ask sessions lists them.'
        : `Name the resource, e.g. croft ask ${what} Machine/web-1.`,
    )
  if (what === 'end-session') {
    const { message } = await ask(runtime, options, '/api/sessions/end', 'read,admin', { id: resource })
    runtime.out.write(`${said(message)}\n`)
    return EXIT.ok
  }
  const key =
    resource === undefined || what === 'plan' || /^Source\//i.test(resource)
      ? resource
      : await keyOf(runtime, options, resource)
  if (what === 'plan') {
    const source = (key ?? '').replace(/^Source\//i, '').replace(/@.*$/, '')
    const place = `/api/waiting-plan?source=${encodeURIComponent(source)}`
    const waiting = await ask(runtime, options, place, 'read,operate')
    if (await writeData(runtime, options.output, waiting)) return EXIT.ok
    const { text, plan } = waiting
    runtime.out.write(typeof text === 'string' ? cleanLines(text) : `No plan of ${clean(source)} waits for approval.\n`)
    if (typeof plan === 'string')
      note(runtime, `To put it into force: croft ask approve Source/${clean(source)}@${clean(plan)}`)
    return EXIT.ok
  }
  const scopes = what === 'approve' ? 'read,approve' : 'read,operate'
  const { message } = await ask(runtime, options, `/api/wishes/${WISHES[what]}`, scopes, bodyOf(what, key, options))
  runtime.out.write(`${said(message)}\n`)
  return EXIT.ok
}

/** Lists sessions of the page: user, address and start. Their ids can only end them. */
async function listSessions(runtime: Runtime, options: Options): Promise<ExitCode> {
  const { sessions } = await ask(runtime, options, '/api/sessions', 'read,admin')
  const open = (Array.isArray(sessions) ? sessions : []) as readonly Partial<Record<string, unknown>>[]
  if (!(await writeData(runtime, options.output, { sessions: open })))
    runtime.out.write(
      renderTable(
        ['ID', 'USER', 'ROLE', 'FROM', 'SIGNED IN'].map((title) => ({ title })),
        open.map(({ id, user, role, address, openedMs }) => [
          ...[id, user, role, address].map(said),
          typeof openedMs === 'number' ? new Date(openedMs).toISOString().slice(0, 16).replace('T', ' ') : '',
        ]),
        styleOf(runtime, runtime.out),
      ),
    )
  return EXIT.ok
}

/** Resolves a name without a kind among the controller's resources and clusters. */
async function keyOf(runtime: Runtime, options: Options, resource: string): Promise<string> {
  const { rows, clusters } = resource.includes('/') ? {} : await ask(runtime, options, '/api/view', 'read')
  const known = [rows, clusters].flatMap((list) => (Array.isArray(list) ? (list as { key?: unknown }[]) : []))
  const keys = known.flatMap(({ key }) => (typeof key === 'string' ? [key] : []))
  return resolveKey(await runtime.kinds(), keys, resource, undefined)
}

type Answer = Readonly<Record<string, unknown>>

/** Makes one call to the API with the caller's token. Without a body it only reads. */
async function ask(runtime: Runtime, options: Options, place: string, scopes: string, body?: object): Promise<Answer> {
  const url = controllerAt(options, runtime.env)
  const token = runtime.env.CROFT_TOKEN ?? ''
  const answer = await fetch(new URL(place, url), {
    method: body === undefined ? 'GET' : 'POST',
    redirect: 'error',
    signal: AbortSignal.any([runtime.signal, AbortSignal.timeout(LIMITS.requestTimeoutMs)]),
    headers: { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown): never => {
    throw new CliError(
      `No controller answers at ${url.origin} (${whyFetchFailed(error)}). Start croft run, or name it with --url.`,
    )
  })
  const found = (await answer.json().catch(() => ({}))) as Answer
  const message = said(found.message ?? `it answered ${answer.status}`)
  // Without a token, the controller answers as to a browser.
  const stranger = token === '' && place === '/api/sessions'
  if (answer.status === 401 || answer.status === 403 || stranger) {
    const why = token === '' ? 'croft ask needs a token.' : message
    throw new CliError(
      `${why} Make one with croft token create NAME --scopes ${scopes} and put it into CROFT_TOKEN.`,
      EXIT.unauthorized,
    )
  }
  if (!answer.ok) throw new CliError(message)
  return found
}

function said(message: unknown): string {
  return clean(typeof message === 'string' ? message : '')
}

function bodyOf(what: string, key: string | undefined, { field }: Options): object {
  if (what === 'approve') return { keys: [key] }
  if (what === 'adopt') return { key, fields: Array.isArray(field) ? field : [] }
  return key === undefined ? {} : { key }
}

/** Returns the server of a context; a directory's context has none. */
function serverOfContext(asked: unknown, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const chosen = chosenContext(readContexts(env), typeof asked === 'string' ? asked : undefined, env)
  return chosen !== undefined && 'server' in chosen.context ? chosen.context.server : undefined
}

/** Sends the token only to this computer, or over TLS. */
function controllerAt({ url, context }: Options, env: Readonly<Record<string, string | undefined>>): URL {
  const text =
    typeof url === 'string' ? url : (env.CROFT_URL ?? serverOfContext(context, env) ?? 'http://127.0.0.1:8087')
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(parsed?.hostname ?? '')
  if (parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && loopback)) return parsed
  throw new UsageError(
    `${clean(text)} is not an address of a controller. Write https://…, or http:// on this computer.`,
  )
}
