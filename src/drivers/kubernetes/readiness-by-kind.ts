import { at, type Foreign, recordsOf, textOf } from '../../kubernetes/objects.ts'
import type { Readiness } from '../../model/rules.ts'
import { markOf, type ObjectDetails } from './marks.ts'
import { conditionsOf, failed, here, isTrue, numberAt, waits } from './readiness-words.ts'

/** Returns the readiness by kind; undefined for kinds that report it in their conditions. */
export function readinessByKind(look: ObjectDetails): Readiness | undefined {
  const { object } = look
  const ofKind =
    typeof object.kind === 'string' && Object.hasOwn(BY_KIND, object.kind) ? BY_KIND[object.kind] : undefined
  if (ofKind !== undefined) return ofKind(object, look)
  return textOf(object.apiVersion)?.includes('.toolkit.fluxcd.io/') === true ? ofFlux(object) : undefined
}

const BY_KIND: Readonly<Record<string, (object: Foreign, look: ObjectDetails) => Readiness | undefined>> = {
  Deployment: deployment,
  StatefulSet: statefulSet,
  DaemonSet: daemonSet,
  ReplicaSet: replicaSet,
  Job: job,
  PersistentVolumeClaim: claim,
  Namespace: namespace,
  Pod: pod,
  CustomResourceDefinition: definition,
  APIService: (object) => condition(object, 'Available'),
  Service: service,
  HelmChart: (_object, look) => chart(look),
  Application: application,
}

/** Flux reports nothing before its first check; until then nothing is known to work. */
function ofFlux(object: Foreign): Readiness | undefined {
  const looksAtNothing = object.kind === 'HelmRepository' && at(object, 'spec', 'type') === 'oci'
  return looksAtNothing ? undefined : condition(object, 'Ready')
}

function deployment(object: Foreign): Readiness {
  const late = conditionsOf(object).find(
    ({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded',
  )
  if (late !== undefined) return failed('ProgressDeadlineExceeded', textOf(late.message) ?? 'it does not get on')
  const wanted = replicasOf(object)
  const counts = counted(object, wanted, ['updatedReplicas', 'availableReplicas', 'readyReplicas'])
  if (!counts.ready) return counts
  return (
    leftOver(object, wanted) ??
    (conditionsOf(object).some(({ type, status }) => type === 'Available' && status === 'False')
      ? waits('NotAvailable', 'too few of its pods are available')
      : counts)
  )
}

/** Pods that only a person replaces, or that a partition keeps at the old version, are not awaited. */
function statefulSet(object: Foreign): Readiness {
  const wanted = replicasOf(object)
  if (at(object, 'spec', 'updateStrategy', 'type') === 'OnDelete') return counted(object, wanted, ['readyReplicas'])
  const partition = numberAt(object, 'spec', 'updateStrategy', 'rollingUpdate', 'partition') ?? 0
  const ready = counted(object, wanted, ['readyReplicas'])
  if (!ready.ready) return ready
  const updated = counted(object, Math.max(0, wanted - partition), ['updatedReplicas'])
  if (!updated.ready) return updated
  return leftOver(object, wanted) ?? ready
}

function replicaSet(object: Foreign): Readiness {
  const broken = conditionsOf(object).find(isTrue('ReplicaFailure'))
  if (broken !== undefined) return waits('ReplicaFailure', textOf(broken.message) ?? 'a pod of it cannot be made')
  const wanted = replicasOf(object)
  const counts = counted(object, wanted, ['availableReplicas', 'readyReplicas'])
  return counts.ready ? (leftOver(object, wanted) ?? counts) : counts
}

function daemonSet(object: Foreign): Readiness {
  const wanted = numberAt(object, 'status', 'desiredNumberScheduled')
  if (wanted === undefined || numberAt(object, 'status', 'observedGeneration') === undefined)
    return waits('NotObserved', 'its controller has not seen it yet')
  return counted(object, wanted, ['currentNumberScheduled', 'updatedNumberScheduled', 'numberAvailable', 'numberReady'])
}

function replicasOf(object: Foreign): number {
  return numberAt(object, 'spec', 'replicas') ?? 1
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

/** Old pods still exist. */
function leftOver(object: Foreign, wanted: number): Readiness | undefined {
  const there = numberAt(object, 'status', 'replicas') ?? wanted
  return there > wanted ? waits('ExtraPods', `${there - wanted} more than ${wanted} have still to go`) : undefined
}

/** A job is awaited to its end, since its dependents need its result. */
function job(object: Foreign): Readiness {
  const conditions = conditionsOf(object)
  if (conditions.some(isTrue('Complete'))) return here('it is complete')
  const broken = conditions.find(isTrue('Failed'))
  if (broken !== undefined) return failed('JobFailed', textOf(broken.message) ?? 'it failed')
  if (at(object, 'spec', 'suspend') === true && conditions.some(isTrue('Suspended'))) return here('it is suspended')
  return waits('Running', 'it has not ended')
}

/** A claim may wait for the first pod that uses it: that is no fault. */
function claim(object: Foreign): Readiness {
  const found = textOf(at(object, 'status', 'phase')) ?? 'Pending'
  if (found === 'Lost') return failed('Lost', 'its volume is gone')
  return here(found === 'Bound' ? 'Bound' : 'it waits for its first user')
}

function namespace(object: Foreign): Readiness {
  const found = textOf(at(object, 'status', 'phase')) ?? 'Active'
  return found === 'Active' ? here('Active') : waits(found, `it is ${found}, not Active`)
}

function pod(object: Foreign): Readiness {
  const phase = textOf(at(object, 'status', 'phase'))
  if (phase === 'Succeeded') return here('it has done its work')
  if (phase === 'Failed') return failed('PodFailed', textOf(at(object, 'status', 'message')) ?? 'it has failed')
  const looping = recordsOf(at(object, 'status', 'containerStatuses')).filter(
    (one) => at(one, 'state', 'waiting', 'reason') === 'CrashLoopBackOff',
  )
  if (looping.length > 0)
    return failed(
      'CrashLoopBackOff',
      `${looping.map(({ name }) => textOf(name) ?? '?').join(', ')} ends again and again`,
    )
  return condition(object, 'Ready')
}

function definition(object: Foreign): Readiness {
  const wrong = conditionsOf(object).find(
    ({ type, status, reason }) =>
      status === 'False' && (type === 'NamesAccepted' || (type === 'Established' && reason !== 'Installing')),
  )
  if (wrong !== undefined) return failed(textOf(wrong.reason) ?? 'Refused', textOf(wrong.message) ?? 'it was refused')
  return condition(object, 'Established')
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

function chart({ object, install }: ObjectDetails): Readiness {
  const broken = conditionsOf(object).find(isTrue('Failed'))
  if (install !== undefined && install.job === markOf(object)?.formerJob)
    return waits('Installing', 'the job for what changed has not begun')
  if (broken !== undefined || install?.state === 'failed')
    return failed('InstallFailed', textOf(broken?.message) ?? 'its job failed')
  if (install?.state !== 'complete') return waits('Installing', installing(object, install))
  // Helm ends once it has sent everything: the workloads may not run yet.
  const { workloads } = install
  const ill = workloads.find(({ readiness }) => !readiness.ready)
  if (ill === undefined)
    return here(
      workloads.length === 0 ? 'it is installed' : `it is installed and all ${workloads.length} workloads run`,
    )
  const { what, readiness } = ill
  const message = `it is installed; ${what}: ${readiness.message}`
  return readiness.status === 'Failed' ? failed(readiness.reason, message) : waits('Workloads', message)
}

function installing(object: Foreign, install: ObjectDetails['install']): string {
  const failures = install?.failures ?? 0
  if (failures === 0) return 'its job has not ended'
  const times = failures === 1 ? 'once' : `${failures} times`
  const said = install?.said === undefined ? '' : ` (${install.said})`
  const [name, namespace] = [at(object, 'metadata', 'name'), at(object, 'metadata', 'namespace')].map(textOf)
  return `Helm failed ${times}${said} and tries again; to see why: kubectl logs -n ${namespace ?? 'kube-system'} job/helm-install-${name ?? ''}. A release that failed is left as it is: take it back with helm rollback, or say failurePolicy: reinstall`
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
