import { yamlLibrary } from '../../src/lib/yaml-library.ts'
import type { Files } from '../guest/files.ts'

export interface ReadConfig {
  /** By flag, in the order of the file. */
  readonly flags: ReadonlyMap<string, readonly string[]>
  /** What K3s logs about it. */
  readonly warnings: readonly string[]
  /** Why it does not start. */
  readonly fatal?: string
}

export const CONFIG_PATH = '/etc/rancher/k3s/config.yaml'

/** config.yaml and what lies in config.yaml.d, as K3s reads them: at a start, and only then. */
export function readConfig(files: Files, role: 'server' | 'agent'): ReadConfig {
  const flags = new Map<string, readonly string[]>()
  const warnings: string[] = []
  const known = role === 'server' ? SERVER_FLAGS : AGENT_FLAGS
  const names = files.list(`${CONFIG_PATH}.d`).filter((name) => /\.ya?ml$/.test(name))
  for (const path of [CONFIG_PATH, ...names.map((name) => `${CONFIG_PATH}.d/${name}`)]) {
    const bytes = files.read(path)
    if (bytes === undefined) continue
    let tree: unknown
    try {
      tree = yamlLibrary().parse(new TextDecoder().decode(bytes), { version: '1.1' })
    } catch (error) {
      const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
      return { flags, warnings, fatal: `yaml: ${why}` }
    }
    if (typeof tree !== 'object' || tree === null) continue
    for (const [key, value] of Object.entries(tree)) {
      const flag = key.replace(/\+$/, '')
      const values = (Array.isArray(value) ? value : [value]).map((one) => String(one as unknown))
      if (!known.has(flag)) {
        if (role === 'agent') return { flags, warnings, fatal: `flag provided but not defined: -${flag}` }
        warnings.push(`Unknown flag --${flag} found in config.yaml, skipping`)
        continue
      }
      flags.set(flag, key.endsWith('+') ? [...(flags.get(flag) ?? []), ...values] : values)
    }
  }
  return { flags, warnings }
}

/** A flag that is only there means true. */
export function isSet(flags: ReadonlyMap<string, readonly string[]>, flag: string): boolean {
  return flags.get(flag)?.at(-1) === 'true'
}

export function flagText(flags: ReadonlyMap<string, readonly string[]>, flag: string): string {
  return flags.get(flag)?.at(-1) ?? ''
}

export function flagList(flags: ReadonlyMap<string, readonly string[]>, flag: string): readonly string[] {
  return (flags.get(flag) ?? []).flatMap((value) => value.split(',')).filter((value) => value !== '')
}

const SECRET_FLAGS = /^(token|agent-token|etcd-s3-access-key|etcd-s3-secret-key|vpn-auth|datastore-endpoint)$/

/** As the annotation `k3s.io/node-args` shows them: secrets covered. */
export function shownArgs(role: string, flags: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const args: string[] = [role]
  for (const [flag, values] of flags) {
    for (const value of values) args.push(`--${flag}`, SECRET_FLAGS.test(flag) ? '********' : value)
  }
  return args
}

const NODE_FLAGS =
  'config debug v vmodule log alsologtostderr token token-file server data-dir node-name with-node-id ' +
  'node-label node-taint node-ip node-external-ip node-internal-dns node-external-dns ' +
  'image-credential-provider-bin-dir image-credential-provider-config selinux lb-server-port ' +
  'protect-kernel-defaults container-runtime-endpoint default-runtime image-service-endpoint ' +
  'pause-image snapshotter private-registry disable-default-registry-endpoint nonroot-devices ' +
  'resolv-conf flannel-iface flannel-conf flannel-cni-conf kubelet-arg kube-proxy-arg rootless ' +
  'prefer-bundled-bin docker bind-address enable-pprof airgap-extra-registry vpn-auth vpn-auth-file ' +
  'disable-apiserver-lb'

const AGENT_FLAGS: ReadonlySet<string> = new Set(NODE_FLAGS.split(' '))

const FURTHER_FLAGS =
  'https-listen-port supervisor-port apiserver-port advertise-address advertise-port tls-san ' +
  'tls-san-security cluster-cidr service-cidr service-node-port-range cluster-dns cluster-domain ' +
  'flannel-backend flannel-ipv6-masq flannel-external-ip egress-selector-mode servicelb-namespace ' +
  'write-kubeconfig write-kubeconfig-mode write-kubeconfig-group helm-job-image agent-token ' +
  'agent-token-file cluster-init cluster-reset cluster-reset-restore-path kube-apiserver-arg etcd-arg ' +
  'kube-controller-manager-arg kube-scheduler-arg kube-cloud-controller-manager-arg kine-tls ' +
  'datastore-endpoint datastore-cafile datastore-certfile datastore-keyfile etcd-expose-metrics ' +
  'etcd-disable-snapshots etcd-snapshot-name etcd-snapshot-schedule-cron ' +
  'etcd-snapshot-reconcile-interval etcd-snapshot-retention etcd-snapshot-dir etcd-snapshot-compress ' +
  'etcd-s3 etcd-s3-endpoint etcd-s3-endpoint-ca etcd-s3-skip-ssl-verify etcd-s3-access-key ' +
  'etcd-s3-secret-key etcd-s3-session-token etcd-s3-bucket etcd-s3-bucket-lookup-type etcd-s3-region ' +
  'etcd-s3-folder etcd-s3-proxy etcd-s3-config-secret etcd-s3-insecure etcd-s3-timeout ' +
  'etcd-s3-retention default-local-storage-path disable disable-scheduler disable-cloud-controller ' +
  'disable-kube-proxy disable-network-policy disable-helm-controller embedded-registry ' +
  'supervisor-metrics secrets-encryption secrets-encryption-provider enable-pprof disable-agent ' +
  'disable-etcd disable-apiserver disable-controller-manager system-default-registry multi-cluster-cidr'

const SERVER_FLAGS: ReadonlySet<string> = new Set([...AGENT_FLAGS, ...FURTHER_FLAGS.split(' ')])
