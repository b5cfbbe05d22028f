import { LIMITS } from '../../lib/limits.ts'
import { whyFetchFailed } from '../../lib/why-fetch-failed.ts'
import { CliError, EXIT, UsageError } from '../exit.ts'
import { clean, cleanLines } from '../render/clean.ts'
import { parseKey } from '../select.ts'
import type { Options, Verb } from '../verb.ts'

/** What can be asked, as the API calls it. */
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
  const wish = what === 'plan' ? 'plan' : WISHES[what]
  if (wish === undefined)
    throw new UsageError(`croft ask ${what} is not known. Use one of ${Object.keys(WISHES).join(', ')}, plan.`)
  if (resource === undefined && what !== 'reconcile')
    throw new UsageError(`Name the resource, e.g. croft ask ${what} Machine/web-1.`)
  const url = controllerAt(options, runtime.env)
  const key =
    resource === undefined || /^Source\//i.test(resource)
      ? resource
      : parseKey(await runtime.kinds(), resource, undefined)
  const token = runtime.env.CROFT_TOKEN ?? ''
  const reads = what === 'plan'
  const source = encodeURIComponent((key ?? '').replace(/^Source\//i, '').replace(/@.*$/, ''))
  const place = reads ? `/api/waiting-plan?source=${source}` : `/api/wishes/${wish}`
  const answer = await fetch(new URL(place, url), {
    method: reads ? 'GET' : 'POST',
    redirect: 'error',
    signal: AbortSignal.any([runtime.signal, AbortSignal.timeout(LIMITS.requestTimeoutMs)]),
    headers: { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
    ...(reads ? {} : { body: JSON.stringify(bodyOf(what, key, options)) }),
  }).catch((error: unknown): never => {
    throw new CliError(
      `No controller answers at ${url.origin} (${whyFetchFailed(error)}). Start croft run, or name it with --url.`,
    )
  })
  const said = (await answer.json().catch(() => ({}))) as { readonly message?: unknown; readonly text?: unknown }
  const message = clean(typeof said.message === 'string' ? said.message : `it answered ${answer.status}`)
  if (answer.status === 401 || answer.status === 403) {
    const scopes = what === 'approve' ? 'read,approve' : 'read,operate'
    // Without a token the controller takes us for a browser, and says what it would say to one.
    const why = token === '' ? 'croft ask needs a token.' : message
    throw new CliError(
      `${why} Make one with croft token create NAME --scopes ${scopes} and put it into CROFT_TOKEN.`,
      EXIT.unauthorized,
    )
  }
  if (!answer.ok) throw new CliError(message)
  if (reads) {
    const waits = typeof said.text === 'string'
    runtime.out.write(waits ? cleanLines(String(said.text)) : `No plan of ${source} waits for approval.\n`)
  } else runtime.out.write(`${message}\n`)
  return EXIT.ok
}

function bodyOf(what: string, key: string | undefined, { field }: Options): object {
  if (what === 'approve') return { keys: [key] }
  if (what === 'adopt') return { key, fields: Array.isArray(field) ? field : [] }
  return key === undefined ? {} : { key }
}

/** The token goes along, so it is sent to this computer, or over TLS. */
function controllerAt({ url }: Options, env: Readonly<Record<string, string | undefined>>): URL {
  const text = typeof url === 'string' ? url : (env.CROFT_URL ?? 'http://127.0.0.1:8087')
  const parsed = URL.canParse(text) ? new URL(text) : undefined
  const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(parsed?.hostname ?? '')
  if (parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && loopback)) return parsed
  throw new UsageError(`${clean(text)} is no address of a controller. Write https://…, or http:// on this computer.`)
}
