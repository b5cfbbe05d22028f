import type { NotCarried } from '../reading.ts'

const SECRET = /(?:token|pass|passwd|password|secret|credential|private_key)$/i
const STAYS = (what: string) => `${what} stays as the playbook installed it; write an Addon to have croft keep it`

/** Variables of the two playbooks, with their treatment. The first match wins. */
const REASONS: readonly (readonly [name: RegExp, why: string])[] = [
  [
    /^(?:k3s_)?token$/,
    'it is secret; croft reads it from a server when it takes the cluster over. Remove it with the playbook',
  ],
  [
    /^ansible_(?:become|sudo)_pass(?:word)?$/,
    'it is secret; put it where croft reads secrets and write ssh.sudo: {password: {env: …}} into the Hosts',
  ],
  [/^ansible_(?:ssh_)?pass(?:word)?$/, 'it is secret, and croft logs in with keys; croft host enroll puts one there'],
  [SECRET, 'it is secret; croft neither reads nor prints it'],
  [/^kube_vip_/, 'kube-vip stays as the playbook installed it; endpoint.kubeVip has croft install its own'],
  [/^metal_lb_/, STAYS('MetalLB')],
  [/^cilium_/, STAYS('Cilium')],
  [/^calico_/, STAYS('Calico')],
  [/^proxmox_lxc_/, 'it is about the containers; croft import proxmox reads them'],
  [
    /^(?:custom_registries(?:_yaml)?|registries_config_yaml|k3s_registries)$/,
    'write it into registries of the Cluster, with each auth as a reference to a secret',
  ],
  [
    /^(?:proxy_env|extra_service_envs|extra_install_envs)$/,
    'croft has no field for the environment of K3s; it stays on the nodes',
  ],
  [/^(?:airgap_dir|k3s_install_url)$/, 'write artifacts of the Cluster to say where K3s comes from'],
  [/^extra_manifests$/, 'they stay on the servers; write an Addon to have croft keep them'],
  [/^system_timezone$/, 'it is about the machines; a HostConfig keeps those'],
  [/^ansible_(?:ssh_)?(?:common|extra)_args$/, 'croft takes no arguments of ssh; write ssh.jump for a jump host'],
  [/^ansible_become/, 'ssh.sudo of the Host says it; it is passwordless unless the user is root'],
  [/^ansible_/, 'it is about Ansible itself'],
]

/** Defaults of the playbooks: such a value means nothing here either. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  systemd_dir: '/etc/systemd/system',
  k3s_server_location: '/var/lib/rancher/k3s',
  api_port: 6443,
  ansible_become: true,
  ansible_connection: 'ssh',
  user_kubectl: true,
  manage_firewall: true,
}

/** Returns variables without effect, each once. `used`: those that set a field, directly or by an expression. */
export function leftVariables(
  variables: ReadonlyMap<string, unknown>,
  used: ReadonlySet<string>,
): readonly NotCarried[] {
  return [...variables].flatMap(([name, value]) => {
    const secret = SECRET.test(name)
    if (used.has(name) && !secret) return []
    if (value === false || value === null || value === '' || DEFAULTS[name] === value) return []
    const why = REASONS.find(([pattern]) => pattern.test(name))?.[1]
    return [{ what: `the variable ${name}`, why: why ?? 'nothing in the Cluster and its Hosts comes from it' }]
  })
}
