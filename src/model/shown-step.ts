import { defined } from '../lib/defined.ts'
import type { ClientCommand, Command } from './command.ts'
import type { KubeObject } from './kube-object.ts'
import type { Loss } from './loss.ts'
import type { Intention } from './record.ts'
import type { SecretReference } from './secret.ts'
import type { About, Coordinated, HelmWrite, Lane, ObjectWrite, RestCall, Step } from './step.ts'

/** A step's call in the one form in which every lane is printed, saved and compared. */
export interface ShownCall {
  /** The way: `api-token`, `ssh`, `kubernetes`. */
  readonly via: string
  readonly method: string
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  /** Parameters that are never shown. */
  readonly secretParams: readonly string[]
}

/** Returns what a step does and which data it destroys: the line of plans, events and pages. */
export function toldStep({
  summary,
  destroys,
}: Pick<Step<About>, 'summary'> & { readonly destroys?: Loss | undefined }): string {
  const takes = destroys?.takes ?? []
  return takes.length === 0 ? summary : `${summary} (takes ${takes.join(', ')})`
}

const WAYS: Readonly<Record<Lane, string>> = {
  rest: 'api-token',
  commands: 'ssh',
  object: 'kubernetes',
  'node-program': 'ssh',
  agent: 'guest-agent',
  power: 'api-token',
  local: 'local',
}

/** Returns the name of a lane's way, as plans and the API have always named it. */
export function wayOf(lane: Lane): string {
  return WAYS[lane]
}

export function shownCall(step: Step): ShownCall {
  const via = wayOf(step.lane)
  switch (step.lane) {
    case 'rest':
      return { via, ...step.call, secretParams: step.secretParams ?? [] }
    case 'object':
      return { via, ...shownWrite(step.write) }
    case 'commands': {
      const version: Readonly<Record<string, string>> = step.digest === undefined ? {} : { digest: step.digest }
      const [first] = step.commands
      if (first !== undefined && 'object' in first) {
        const params = { ...first.options, ...textsOf(first.values), ...version }
        return { via, method: METHODS[first.do], path: first.object, params, secretParams: [] }
      }
      const params = { commands: JSON.stringify(step.commands), ...version }
      return { via, method: step.verb === 'delete' ? 'DELETE' : 'PUT', path: step.on, params, secretParams: [] }
    }
  }
}

const METHODS: Readonly<Record<ClientCommand['do'], string>> = { make: 'POST', set: 'PUT', delete: 'DELETE' }

function shownWrite(write: ObjectWrite): Omit<ShownCall, 'via'> {
  if (write.do === 'delete') {
    const { apiVersion, kind, propagationPolicy, uid, resourceVersion } = write
    const params = { apiVersion, kind, propagationPolicy, ...defined({ uid, resourceVersion }) }
    return { method: 'DELETE', path: write.path, params, secretParams: [] }
  }
  if (write.do === 'helm') return shownHelm(write)
  if (write.do === 'merge')
    return { method: 'PATCH', path: write.path, params: { body: JSON.stringify(write.body) }, secretParams: [] }
  const { path, as, force, body, secrets = {}, hidden } = write
  const references = Object.fromEntries(
    Object.entries(secrets).map(([name, reference]) => [`data.${name}`, JSON.stringify(reference)]),
  )
  return {
    method: 'PATCH',
    path: `${path}?fieldManager=${as}${force === true ? '&force=true' : ''}`,
    params: { body: JSON.stringify(body), ...references },
    secretParams: hidden === true ? ['body', ...Object.keys(references)] : Object.keys(references),
  }
}

const HELM = 'HELM'

function shownHelm(write: HelmWrite): Omit<ShownCall, 'via'> {
  const path = `${write.run} ${write.namespace}/${write.release}`
  if (write.run === 'uninstall') return { method: HELM, path, params: {}, secretParams: [] }
  const { chart, values, labels, valuesFrom, takeOwnership } = write
  const params = {
    chart: JSON.stringify(chart),
    values,
    labels: JSON.stringify(labels),
    ...(takeOwnership === true ? { takeOwnership: 'true' } : {}),
    ...(valuesFrom === undefined ? {} : { valuesFrom: JSON.stringify(valuesFrom) }),
  }
  return { method: HELM, path, params, secretParams: valuesFrom === undefined ? [] : ['valuesFrom'] }
}

function readHelm({ path, params }: RestCall): HelmWrite {
  const [run, place = ''] = path.split(' ')
  const [namespace = '', release = ''] = place.split('/')
  if (run === 'uninstall') return { do: 'helm', run, namespace, release }
  const { chart = '{}', values = '', labels = '{}', valuesFrom, takeOwnership } = params
  return {
    do: 'helm',
    run: 'upgrade',
    namespace,
    release,
    chart: JSON.parse(chart) as Extract<HelmWrite, { run: 'upgrade' }>['chart'],
    values,
    labels: JSON.parse(labels) as Readonly<Record<string, string>>,
    ...(valuesFrom === undefined ? {} : { valuesFrom: JSON.parse(valuesFrom) as SecretReference }),
    ...(takeOwnership === undefined ? {} : { takeOwnership: true }),
  }
}

function textsOf(values: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]))
}

/** Returns the call without its parameters: `POST /nodes/…/status/reboot`. */
export function callLine(step: Step): string {
  const { method, path } = shownCall(step)
  return `${method} ${path}`
}

/** Returns the version that a step was decided on: if the object has another one, the step is refused. */
export function versionOf(step: Step): string | undefined {
  return step.lane === 'object' ? undefined : step.lane === 'rest' ? step.call.params.digest : step.digest
}

/*
 * The form in which steps are saved and exported. It is the same for every lane and never changes: an older croft reads
 * what a newer one wrote, and saved plans are compared by it.
 */

/** Returns a step in that form. `call` may show fewer parameters than are sent. */
export function savedStep(step: Step<About>, params?: ShownCall['params']): object {
  if (step.about !== undefined) return savedOfCoordinator(step)
  const shown = shownCall(step)
  const call = { method: shown.method, path: shown.path, params: params ?? shown.params }
  const fields = Object.entries(step).flatMap(([name, value]: [string, unknown]): readonly [string, unknown][] => {
    if (name === 'lane') return [['lane', shown.via]]
    if (name === 'call' || name === 'commands' || name === 'write') return [['call', call]]
    return name === 'on' || name === 'digest' ? [] : [[name, value]]
  })
  const { secretParams } = shown
  return {
    ...Object.fromEntries(fields),
    ...(step.lane === 'object' && secretParams.length > 0 ? { secretParams } : {}),
  }
}

/** In these, `do` has always been the name of the verb. */
export function savedOfCoordinator<A extends Coordinated>(step: Step<A>) {
  const fields = Object.entries(step).map(([name, value]: [string, unknown]) => {
    if (name === 'verb') return ['do', value]
    return name === 'lane' ? ['lane', wayOf(step.lane)] : [name, value]
  })
  return Object.fromEntries(fields) as Omit<Step<A>, 'verb' | 'lane'> & { readonly do: string; readonly lane: string }
}

export function savedIntention(intention: Intention): object {
  return { ...intention, step: { ...savedStep(intention.step), destroys: undefined } }
}

interface SavedIntention extends Omit<Intention, 'step'> {
  readonly step: SavedStep
}

interface SavedStep {
  readonly about?: Coordinated
  readonly lane: string
  readonly do?: string
  readonly call?: RestCall
  readonly secretParams?: readonly string[]
}

/** Parses a stored intention of any version of croft. */
export function readIntention(saved: unknown): Intention {
  const intention = saved as SavedIntention
  return { ...intention, step: readStep(intention.step) } as Intention
}

function readStep(saved: SavedStep): Step<About> {
  const { call, secretParams, do: _, ...rest } = saved
  if (saved.about !== undefined || call === undefined)
    return { ...rest, verb: saved.do, lane: laneOf(saved) } as unknown as Step<Coordinated>
  if (saved.lane === 'api-token') return { ...saved, lane: 'rest' } as unknown as Step
  const carried =
    saved.lane === 'kubernetes'
      ? { lane: 'object', write: readWrite(call, secretParams) }
      : { lane: 'commands', ...readCommands(call) }
  return { ...rest, ...carried } as unknown as Step
}

const LANES: Readonly<Record<string, Lane>> = {
  'api-token': 'rest',
  ssh: 'node-program',
  'guest-agent': 'agent',
  kubernetes: 'object',
}

function laneOf({ lane, do: verb }: SavedStep): Lane {
  if (verb === 'run-hook') return 'commands'
  if (verb === 'wake-host' || (verb === 'stop-host' && lane !== 'local')) return 'power'
  return LANES[lane] ?? (lane as Lane)
}

function readWrite(call: RestCall, secretParams: readonly string[] = []): ObjectWrite {
  const { method, path, params } = call
  if ((method as string) === HELM) return readHelm(call)
  if (method === 'DELETE') {
    const { apiVersion = '', kind = '', uid, resourceVersion } = params
    return defined({ do: 'delete', path, apiVersion, kind, propagationPolicy: 'Background', uid, resourceVersion })
  }
  const [place = '', query] = path.split('?')
  const text = params.body ?? '{}'
  // Only an apply has a field manager.
  if (query === undefined) return { do: 'merge', path, body: JSON.parse(text) as Readonly<Record<string, unknown>> }
  const asked = new URLSearchParams(query)
  const named = secretParams.filter((name) => name !== 'body')
  const secrets = named.map((name) => [name.slice('data.'.length), JSON.parse(params[name] ?? '{}') as SecretReference])
  return {
    do: 'apply',
    path: place,
    body: JSON.parse(text) as KubeObject,
    as: asked.get('fieldManager') ?? '',
    ...(asked.has('force') ? { force: true } : {}),
    ...(named.length === 0
      ? {}
      : { secrets: Object.fromEntries(secrets) as Readonly<Record<string, SecretReference>> }),
    ...(secretParams.includes('body') ? { hidden: true } : {}),
  }
}

const CHANGES = { POST: 'make', DELETE: 'delete' } as const

function readCommands({
  method,
  path,
  params,
}: RestCall): Pick<Step & { lane: 'commands' }, 'on' | 'commands' | 'digest'> {
  const { digest, commands, ...options } = params
  const version = digest === undefined ? {} : { digest }
  if (commands !== undefined) return { on: path, commands: JSON.parse(commands) as readonly Command[], ...version }
  const change = method === 'POST' || method === 'DELETE' ? CHANGES[method] : 'set'
  return { on: path, commands: [{ do: change, object: path, options, values: {} }], ...version }
}
