import type { EtcdCluster } from '../../world/types.ts'
import { type KubeObject, text, tree } from '../object.ts'
import { find } from '../store.ts'

/** Charts that the repositories of croft's presets offer. Every chart of another repository counts as there. */
const OFFERED: Readonly<Record<string, RegExp>> = {
  'https://argoproj.github.io/argo-helm': /^(argo-(cd|events|rollouts|workflows)|argocd-(apps|image-updater))$/,
  'https://charts.jetstack.io': /^(cert-manager|trust-manager|finops-|version-checker|google-cas-issuer)/,
  'https://helm.cilium.io': /^(cilium|tetragon)$/,
  'https://coredns.github.io/helm': /^coredns$/,
  'https://fluxcd-community.github.io/helm-charts': /^flux2/,
  'https://metallb.github.io/metallb': /^metallb$/,
  'https://charts.rook.io/release': /^rook-ceph(-cluster)?$/,
  'https://traefik.github.io/charts': /^(traefik|maesh)/,
}

/** What Helm says of a chart that it cannot get, as the log of its job has it. Undefined: it gets it. */
function whyNoChart({ spec: asked, metadata }: KubeObject): string | undefined {
  const spec = tree(asked)
  const [repo, chart, version] = [text(spec.repo).replace(/\/$/, ''), text(spec.chart), text(spec.version)]
  const host = URL.canParse(repo || chart) ? new URL(repo || chart).hostname : ''
  // No name below .invalid ever resolves.
  if (host.endsWith('.invalid'))
    return `Error: looks like "${repo || chart}" is not a valid chart repository or cannot be reached: dial tcp: lookup ${host}: no such host`
  const offered = OFFERED[repo]
  if (offered === undefined || offered.test(chart)) return undefined
  return `Error: INSTALLATION FAILED: chart "${chart}" matching ${version || 'any version'} not found in ${metadata.name} index. (try 'helm repo update'): no chart name found`
}

/** Why the job of a chart fails, from the pod of that job. */
export function whyHelmFails(
  cluster: EtcdCluster,
  { metadata: { namespace, name, labels } }: KubeObject,
): string | undefined {
  const called = labels?.['helmcharts.helm.cattle.io/chart']
  if (called === undefined || !name.startsWith('helm-install-')) return undefined
  const chart = find(cluster.store, 'helm.cattle.io/helmcharts', namespace, called)
  return chart === undefined ? undefined : whyNoChart(chart)
}
