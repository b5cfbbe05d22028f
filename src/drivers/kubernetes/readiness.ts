import { at, type Foreign, isRecord, recordsOf, textOf } from '../../kubernetes/objects.ts'
import { holds } from '../../lib/cel.ts'
import { cleanText } from '../../lib/clean-text.ts'
import type { Readiness } from '../../model/rules.ts'
import type { ObjectLook } from './look.ts'

/** Has an object come to rest as it should be? By its kind, then by its conditions, then by what the person wrote. */
export function objectReadiness(look: ObjectLook, expression?: string): Readiness {
  const { object } = look
  const found = terminating(object) ?? stale(object) ?? byKind(look) ?? byConditions(object) ?? here('it is there')
  if (!found.ready || expression === undefined) return found
  const answer = holds(expression, object)
  if (answer === true) return found
  return waits('ReadyExpression', answer === false ? `not yet: ${expression}` : `${expression}: ${answer}`)
}

function here(message: string): Readiness {
  return { ready: true, reason: 'Current', message, status: 'Current' }
}

function waits(reason: string, message: string): Readiness {
  return { ready: false, reason, message: cleanText(message), status: 'InProgress' }
}

function failed(reason: string, message: string): Readiness {
  return { ready: false, reason, message: cleanText(message), status: 'Failed' }
}

function terminating(object: Foreign): Readiness | undefined {
  if (at(object, 'metadata', 'deletionTimestamp') === undefined) return undefined
  return { ready: false, reason: 'Terminating', message: 'it is being deleted', status: 'Terminating' }
}

/** Its controller has not yet seen what was written. */
function stale(object: Foreign): Readiness | undefined {
  const [generation, observed] = [
    numberAt(object, 'metadata', 'generation'),
    numberAt(object, 'status', 'observedGeneration'),
  ]
  if (generation === undefined || observed === undefined || observed >= generation) return undefined
  return waits('NotObserved', `its controller has seen generation ${observed} of ${generation}`)
}

function byKind(look: ObjectLook): Readiness | undefined {
  const { object } = look
  switch (object.kind) {
    case 'Deployment':
      return deployment(object)
    case 'StatefulSet':
      return counted(object, numberAt(object, 'spec', 'replicas') ?? 1, ['updatedReplicas', 'readyReplicas'])
    case 'DaemonSet':
      return daemonSet(object)
    case 'Job':
      return job(object)
    case 'PersistentVolumeClaim':
      return claim(object)
    case 'Namespace':
      return phase(object, 'Active')
    case 'Pod':
      return condition(object, 'Ready')
    case 'CustomResourceDefinition':
      return condition(object, 'Established')
    case 'APIService':
      return condition(object, 'Available')
    case 'Service':
      return service(object)
    case 'HelmChart':
      return chart(look)
    case 'Application':
      return application(object)
    default:
      return undefined
  }
}

function deployment(object: Foreign): Readiness {
  const late = conditionsOf(object).find(
    ({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded',
  )
  if (late !== undefined) return failed('ProgressDeadlineExceeded', textOf(late.message) ?? 'it does not get on')
  const wanted = numberAt(object, 'spec', 'replicas') ?? 1
  return counted(object, wanted, ['updatedReplicas', 'availableReplicas'])
}

function daemonSet(object: Foreign): Readiness {
  const wanted = numberAt(object, 'status', 'desiredNumberScheduled')
  if (wanted === undefined) return waits('NotObserved', 'its controller has not seen it yet')
  return counted(object, wanted, ['updatedNumberScheduled', 'numberAvailable'])
}

function counted(object: Foreign, wanted: number, names: readonly string[]): Readiness {
  if (numberAt(object, 'status', 'observedGeneration') === undefined && wanted > 0)
    return waits('NotObserved', 'its controller has not seen it yet')
  for (const name of names) {
    const count = numberAt(object, 'status', name) ?? 0
    if (count < wanted) return waits('Pods', `${name} is ${count} of ${wanted}`)
  }
  return here(`${wanted} of ${wanted} are ready`)
}

function job(object: Foreign): Readiness {
  const end = conditionsOf(object).find(
    ({ status, type }) => status === 'True' && (type === 'Complete' || type === 'Failed'),
  )
  if (end === undefined) return waits('Running', 'it has not ended')
  return end.type === 'Complete' ? here('it is complete') : failed('JobFailed', textOf(end.message) ?? 'it failed')
}

/** A claim may wait for the first pod that uses it: that is no fault of its own. */
function claim(object: Foreign): Readiness {
  const found = textOf(at(object, 'status', 'phase')) ?? 'Pending'
  if (found === 'Lost') return failed('Lost', 'its volume is gone')
  return here(found === 'Bound' ? 'Bound' : 'it waits for its first user')
}

function phase(object: Foreign, wanted: string): Readiness {
  const found = textOf(at(object, 'status', 'phase'))
  return found === undefined || found === wanted ? here(wanted) : waits(found, `it is ${found}, not ${wanted}`)
}

function condition(object: Foreign, type: string): Readiness {
  const found = conditionsOf(object).find((one) => one.type === type)
  if (found?.status === 'True') return here(type)
  return waits(`Not${type}`, textOf(found?.message) ?? `${type} is not said yet`)
}

function service(object: Foreign): Readiness | undefined {
  if (at(object, 'spec', 'type') !== 'LoadBalancer') return undefined
  const given = recordsOf(at(object, 'status', 'loadBalancer', 'ingress'))
  return given.length > 0 ? here('it has an address') : waits('NoAddress', 'no address has been given to it yet')
}

function chart({ object, install }: ObjectLook): Readiness {
  const broken = conditionsOf(object).find(({ type, status }) => type === 'Failed' && status === 'True')
  if (broken !== undefined || install === 'failed')
    return failed('InstallFailed', textOf(broken?.message) ?? 'its job failed')
  return install === 'complete' ? here('it is installed') : waits('Installing', 'its job has not ended')
}

function application(object: Foreign): Readiness {
  const [sync, health] = [
    textOf(at(object, 'status', 'sync', 'status')),
    textOf(at(object, 'status', 'health', 'status')),
  ]
  if (sync === 'Synced' && health === 'Healthy') return here('Synced and Healthy')
  const said = textOf(at(object, 'status', 'operationState', 'message'))
  return waits(
    'NotSynced',
    `${sync ?? 'not synced'}, ${health ?? 'health unknown'}${said === undefined ? '' : `: ${said}`}`,
  )
}

/** What objects of kinds that nobody knows say of themselves. */
function byConditions(object: Foreign): Readiness | undefined {
  const conditions = conditionsOf(object)
  const stalled = conditions.find(({ type, status }) => type === 'Stalled' && status === 'True')
  if (stalled !== undefined)
    return failed(textOf(stalled.reason) ?? 'Stalled', textOf(stalled.message) ?? 'it is stalled')
  const busy = conditions.find(({ type, status }) => type === 'Reconciling' && status === 'True')
  if (busy !== undefined)
    return waits(textOf(busy.reason) ?? 'Reconciling', textOf(busy.message) ?? 'it is being worked on')
  const ready = conditions.find(({ type }) => type === 'Ready')
  if (ready === undefined) return undefined
  return ready.status === 'True'
    ? here('Ready')
    : waits(textOf(ready.reason) ?? 'NotReady', textOf(ready.message) ?? 'not Ready')
}

function conditionsOf(object: Foreign): readonly Foreign[] {
  const status = isRecord(object.status) ? object.status : {}
  return recordsOf(status.conditions)
}

function numberAt(object: Foreign, ...path: readonly string[]): number | undefined {
  const value = at(object, ...path)
  return typeof value === 'number' ? value : undefined
}
