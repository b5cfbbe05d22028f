import type { Files } from '../guest/files.ts'

export const DATA = '/var/lib/rancher/k3s'
/** What a kubelet shows to be who it is. */
export const CLIENT_KUBELET = `${DATA}/agent/client-kubelet.crt`
/** A leaf's validity, and the remaining time at which a start renews it. */
const LEAF_MS = 365 * 86_400_000
const RENEWED_MS = 120 * 86_400_000

/** What lies in the place of the kubelet's certificate after a start. */
export function kubeletLeaf(files: Files, nodeName: string, nowMs: number): string {
  const endMs = leafEnd(files)
  const kept = endMs !== undefined && endMs - nowMs > RENEWED_MS
  return `client of ${nodeName}\nnotAfter=${new Date(kept ? endMs : nowMs + LEAF_MS).toUTCString()}\n`
}

/** When it ends; undefined where there is none. */
export function leafEnd(files: Files): number | undefined {
  const end = Date.parse(/notAfter=(.*)/.exec(files.text(CLIENT_KUBELET) ?? '')?.[1] ?? '')
  return Number.isNaN(end) ? undefined : end
}

export const DB = `${DATA}/server/db`
export const SNAPSHOTS = `${DB}/snapshots`
/** For the administrator, on every server. */
export const KUBECONFIG = '/etc/rancher/k3s/k3s.yaml'
export const BINARY = '/usr/local/bin/k3s'
export const NODE_PASSWORD = '/etc/rancher/node/password'
export const TOMBSTONE = `${DB}/etcd/tombstone`
export const RESET_FLAG = `${DB}/reset-flag`
/** Where a server that was not told to have etcd keeps everything. */
export const STATE_DB = `${DB}/state.db`
const MEMBER = `${DB}/etcd/member/snap/db`
const BINARY_MARK = 'k3s program '

/** Does this server keep its data in a file, without etcd? */
export function keepsFile(files: Files): boolean {
  return files.read(STATE_DB) !== undefined
}

/** Returns the etcd cluster and member whose data this disk holds. */
export function memberOnDisk(files: Files): { readonly cluster: string; readonly member: string } | undefined {
  const [cluster = '', member = ''] = (files.text(MEMBER) ?? '').split('/')
  return cluster === '' || member === '' ? undefined : { cluster, member }
}

export function writeMember(files: Files, cluster: string, member: string, name: string): void {
  files.write(MEMBER, `${cluster}/${member}`)
  files.write(`${DB}/etcd/name`, name)
}

/** The content of the program is its name and version: what matters of it here. */
export function programText(version: string): string {
  return `${BINARY_MARK}${version}\n`
}

export function installedVersion(files: Files): string | undefined {
  return programVersion(files, BINARY)
}

/** Of a K3s under any name. */
export function programVersion(files: Files, path: string): string | undefined {
  const text = files.text(path)
  return text?.startsWith(BINARY_MARK) ? text.slice(BINARY_MARK.length).trim() : undefined
}

export function unitPath(role: 'server' | 'agent'): string {
  return `/etc/systemd/system/${unitName(role)}.service`
}

export function unitName(role: 'server' | 'agent'): string {
  return role === 'server' ? 'k3s' : 'k3s-agent'
}

/** Returns the role of the installed unit; the server's wins if both exist. */
export function unitRole(files: Files): 'server' | 'agent' | undefined {
  if (files.read(unitPath('server')) !== undefined) return 'server'
  return files.read(unitPath('agent')) !== undefined ? 'agent' : undefined
}

/** The real program counts wipes beside itself: neither a wipe nor a restore of the cluster reaches it. */
const WIPES = '/usr/local/lib/croft/wipes'

export function wipesOf(files: Files): number {
  return Number(files.text(WIPES) ?? 0)
}

export function countWipe(files: Files): void {
  files.write(WIPES, `${wipesOf(files) + 1}\n`)
}

/** Moves a folder, as K3s does with a database that it puts aside. */
export function moveFolder(files: Files, from: string, to: string): void {
  const walk = (path: string, target: string) => {
    for (const name of files.list(path)) {
      const bytes = files.read(`${path}/${name}`)
      if (bytes === undefined) walk(`${path}/${name}`, `${target}/${name}`)
      else files.write(`${target}/${name}`, bytes)
    }
  }
  walk(from, to)
  files.remove(from)
}
