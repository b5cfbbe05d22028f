import { list, text, tree, trees } from './object.ts'
import { all, type Store } from './store.ts'

/** One resource that the API serves. */
export interface ApiResource {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly singular: string
  readonly kind: string
  readonly namespaced: boolean
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** Without its parts: all verbs, or the few that it has. */
  readonly verbs: readonly string[]
  readonly subresources: readonly string[]
  /** Where its objects are kept: `apps/deployments`. */
  readonly key: string
  /** Columns that a definition of one's own adds to a table. */
  readonly columns?: readonly unknown[]
}

/** In the order in which resources by definition list them. */
const DEFINED_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']
/** What is said of a definition that is being deleted; its objects can be patched all the same. */
const TERMINATING_VERBS = ['delete', 'deletecollection', 'get', 'list', 'watch']

const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

/**
 * What K3s serves by itself: group and version, then per line plural, kind, `ns` for those in a namespace, short names
 * after `=`, categories after `@`, parts after `/`. `!` says that it can only be created.
 */
const TABLE: readonly (readonly [string, string])[] = [
  [
    'v1',
    `bindings Binding ns !
     componentstatuses ComponentStatus =cs !get,list
     configmaps ConfigMap ns =cm
     endpoints Endpoints ns =ep
     events Event ns =ev
     limitranges LimitRange ns =limits
     namespaces Namespace =ns /finalize,status
     nodes Node =no /proxy,status
     persistentvolumeclaims PersistentVolumeClaim ns =pvc /status
     persistentvolumes PersistentVolume =pv /status
     pods Pod ns =po @all /attach,binding,ephemeralcontainers,eviction,exec,log,portforward,proxy,resize,status
     podtemplates PodTemplate ns
     replicationcontrollers ReplicationController ns =rc @all /scale,status
     resourcequotas ResourceQuota ns =quota /status
     secrets Secret ns
     serviceaccounts ServiceAccount ns =sa /token
     services Service ns =svc @all /proxy,status`,
  ],
  ['apiregistration.k8s.io/v1', 'apiservices APIService @api-extensions /status'],
  [
    'apps/v1',
    `controllerrevisions ControllerRevision ns
     daemonsets DaemonSet ns =ds @all /status
     deployments Deployment ns =deploy @all /scale,status
     replicasets ReplicaSet ns =rs @all /scale,status
     statefulsets StatefulSet ns =sts @all /scale,status`,
  ],
  ['events.k8s.io/v1', 'events Event ns =ev'],
  ['authentication.k8s.io/v1', `selfsubjectreviews SelfSubjectReview !\ntokenreviews TokenReview !`],
  [
    'authorization.k8s.io/v1',
    `localsubjectaccessreviews LocalSubjectAccessReview ns !
     selfsubjectaccessreviews SelfSubjectAccessReview !
     selfsubjectrulesreviews SelfSubjectRulesReview !
     subjectaccessreviews SubjectAccessReview !`,
  ],
  ['autoscaling/v2', 'horizontalpodautoscalers HorizontalPodAutoscaler ns =hpa @all /status'],
  ['autoscaling/v1', 'horizontalpodautoscalers HorizontalPodAutoscaler ns =hpa @all /status'],
  ['batch/v1', `cronjobs CronJob ns =cj @all /status\njobs Job ns @all /status`],
  ['certificates.k8s.io/v1', 'certificatesigningrequests CertificateSigningRequest =csr /approval,status'],
  [
    'networking.k8s.io/v1',
    `ingressclasses IngressClass
     ingresses Ingress ns =ing /status
     ipaddresses IPAddress =ip
     networkpolicies NetworkPolicy ns =netpol
     servicecidrs ServiceCIDR /status`,
  ],
  ['policy/v1', 'poddisruptionbudgets PodDisruptionBudget ns =pdb /status'],
  [
    'rbac.authorization.k8s.io/v1',
    `clusterrolebindings ClusterRoleBinding
     clusterroles ClusterRole
     rolebindings RoleBinding ns
     roles Role ns`,
  ],
  [
    'storage.k8s.io/v1',
    `csidrivers CSIDriver
     csinodes CSINode
     csistoragecapacities CSIStorageCapacity ns
     storageclasses StorageClass =sc
     volumeattachments VolumeAttachment /status
     volumeattributesclasses VolumeAttributesClass =vac`,
  ],
  [
    'admissionregistration.k8s.io/v1',
    `mutatingadmissionpolicies MutatingAdmissionPolicy @api-extensions
     mutatingadmissionpolicybindings MutatingAdmissionPolicyBinding @api-extensions
     mutatingwebhookconfigurations MutatingWebhookConfiguration @api-extensions
     validatingadmissionpolicies ValidatingAdmissionPolicy @api-extensions /status
     validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding @api-extensions
     validatingwebhookconfigurations ValidatingWebhookConfiguration @api-extensions`,
  ],
  ['apiextensions.k8s.io/v1', 'customresourcedefinitions CustomResourceDefinition =crd,crds @api-extensions /status'],
  ['scheduling.k8s.io/v1', 'priorityclasses PriorityClass =pc'],
  ['coordination.k8s.io/v1', 'leases Lease ns'],
  ['node.k8s.io/v1', 'runtimeclasses RuntimeClass'],
  ['discovery.k8s.io/v1', 'endpointslices EndpointSlice ns'],
  [
    'resource.k8s.io/v1',
    `deviceclasses DeviceClass
     resourceclaims ResourceClaim ns /status
     resourceclaimtemplates ResourceClaimTemplate ns
     resourceslices ResourceSlice`,
  ],
  [
    'flowcontrol.apiserver.k8s.io/v1',
    `flowschemas FlowSchema /status\nprioritylevelconfigurations PriorityLevelConfiguration /status`,
  ],
  ['helm.cattle.io/v1', `helmchartconfigs HelmChartConfig ns =hcc\nhelmcharts HelmChart ns =hc /status`],
  ['k3s.cattle.io/v1', `etcdsnapshotfiles ETCDSnapshotFile\naddons Addon ns`],
]

const BUILT_IN: readonly ApiResource[] = TABLE.flatMap(([groupVersion, lines]) =>
  lines.split('\n').map((line) => resourceOf(groupVersion, line.trim())),
)

function resourceOf(groupVersion: string, line: string): ApiResource {
  const [plural = '', kind = '', ...words] = line.split(/\s+/)
  const after = (mark: string) => words.find((word) => word.startsWith(mark))?.slice(1)
  const split = (mark: string) => (after(mark) ?? '').split(',').filter((one) => one !== '')
  const [group, version] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion]
  const few = after('!')
  const usual = (group ?? '').endsWith('.cattle.io') ? DEFINED_VERBS : ALL_VERBS
  const verbs = few === undefined ? usual : few === '' ? ['create'] : few.split(',')
  return {
    group: group ?? '',
    version: version ?? '',
    plural,
    singular: kind.toLowerCase(),
    kind,
    namespaced: words.includes('ns'),
    shortNames: split('='),
    categories: split('@'),
    verbs: plural === 'namespaces' ? verbs.filter((verb) => verb !== 'deletecollection') : verbs,
    subresources: split('/'),
    key: keyFor(group ?? '', plural),
  }
}

/** Events are one thing under two groups. */
function keyFor(group: string, plural: string): string {
  return plural === 'events' ? '/events' : `${group}/${plural}`
}

/** Returns the built-in resources, then those of established definitions. */
export function resources(store: Store): readonly ApiResource[] {
  const own = all(store, 'apiextensions.k8s.io/customresourcedefinitions').flatMap((definition) => {
    const spec = tree(definition.spec)
    const established = trees(tree(definition.status).conditions).some(
      ({ type, status }) => type === 'Established' && status === 'True',
    )
    const group = text(spec.group)
    if (!established || BUILT_IN.some((one) => one.group === group && one.plural === text(tree(spec.names).plural)))
      return []
    const names = tree(spec.names)
    return trees(spec.versions)
      .filter(({ served }) => served === true)
      .map(
        (version): ApiResource => ({
          group,
          version: text(version.name),
          plural: text(names.plural),
          singular: text(names.singular) || text(names.kind).toLowerCase(),
          kind: text(names.kind),
          namespaced: spec.scope === 'Namespaced',
          shortNames: list(names.shortNames).map(text),
          categories: list(names.categories).map(text),
          verbs: definition.metadata.deletionTimestamp === undefined ? DEFINED_VERBS : TERMINATING_VERBS,
          subresources: Object.keys(tree(version.subresources)),
          key: keyFor(group, text(names.plural)),
          columns: list(version.additionalPrinterColumns),
        }),
      )
  })
  return own.length === 0 ? BUILT_IN : [...BUILT_IN, ...own]
}

const byPath = new Map(BUILT_IN.map((one) => [`${one.group}/${one.version}/${one.plural}`, one]))

export function resourceAt(store: Store, group: string, version: string, plural: string): ApiResource | undefined {
  return (
    byPath.get(`${group}/${version}/${plural}`) ??
    resources(store).find((one) => one.group === group && one.version === version && one.plural === plural)
  )
}

export function kindOf(store: Store, apiVersion: string, kind: string): ApiResource | undefined {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return resources(store).find((one) => one.group === group && one.version === version && one.kind === kind)
}
