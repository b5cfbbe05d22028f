import type { ClusterSpec } from '../model/cluster.ts'
import { parseAddress } from './cidr.ts'

/** K3s applies what lies in this folder of a server, and again whenever it changes. */
export const KUBE_VIP_FILE = '/var/lib/rancher/k3s/server/manifests/croft-kube-vip.yaml'

const IMAGE = 'ghcr.io/kube-vip/kube-vip'
const LABELS = { 'app.kubernetes.io/name': 'kube-vip', 'app.kubernetes.io/managed-by': 'croft' }

/**
 * Returns kube-vip's manifest: one pod on each server; the holder of a lease answers for the endpoint's address on the
 * local network. It tolerates everything and needs no network plugin, so it runs before one is there. Undefined if the
 * declaration does not ask for it.
 */
export function kubeVipManifest({ endpoint }: Pick<ClusterSpec, 'endpoint'>): string | undefined {
  if (!('vip' in endpoint) || endpoint.kubeVip === undefined) return undefined
  const { vip, kubeVip } = endpoint
  const objects = [ACCOUNT, ROLE, BINDING, daemonSet(vip, kubeVip)]
  return objects.map((object) => `---\n${JSON.stringify(object, null, 2)}\n`).join('')
}

const METADATA = { name: 'kube-vip', namespace: 'kube-system', labels: LABELS }

const ACCOUNT = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: METADATA }

const ROLE = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata: METADATA,
  rules: [
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['list', 'get', 'watch', 'update', 'create'] },
  ],
}

const BINDING = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: METADATA,
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'kube-vip' },
  subjects: [{ kind: 'ServiceAccount', name: 'kube-vip', namespace: 'kube-system' }],
}

function daemonSet(
  vip: string,
  kubeVip: { readonly version: string; readonly image?: string; readonly interface?: string },
) {
  const environment: Readonly<Record<string, string | undefined>> = {
    vip_arp: 'true',
    port: '6443',
    vip_interface: kubeVip.interface,
    vip_subnet: parseAddress(vip)?.family === 6 ? '128' : '32',
    cp_enable: 'true',
    cp_namespace: 'kube-system',
    vip_leaderelection: 'true',
    vip_leasename: 'plndr-cp-lock',
    vip_leaseduration: '5',
    vip_renewdeadline: '3',
    vip_retryperiod: '1',
    address: vip,
    // The API of the server it runs on: the address itself, and services, may not be there yet.
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: '6443',
  }
  const env = Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
  const own = { name: 'vip_nodename', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: METADATA,
    spec: {
      selector: { matchLabels: { 'app.kubernetes.io/name': 'kube-vip' } },
      template: {
        metadata: { labels: LABELS },
        spec: {
          serviceAccountName: 'kube-vip',
          hostNetwork: true,
          priorityClassName: 'system-node-critical',
          nodeSelector: { 'node-role.kubernetes.io/control-plane': 'true' },
          tolerations: [{ operator: 'Exists' }],
          containers: [
            {
              name: 'kube-vip',
              image: `${kubeVip.image ?? IMAGE}:${kubeVip.version}`,
              args: ['manager'],
              env: [...env, own],
              securityContext: { capabilities: { add: ['NET_ADMIN', 'NET_RAW'], drop: ['ALL'] } },
            },
          ],
        },
      },
    },
  }
}
