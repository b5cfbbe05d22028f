import { backupFiles } from '../../../k3s/backup-flags.ts'
import { CA_FILES } from '../../../k3s/ca-files.ts'
import { AGENT_TOKEN_FILE, CONFIG_FILE, configFile, type ServerPlace, TOKEN_FILE } from '../../../k3s/config.ts'
import { GATE_DEADLINES, gateFiles } from '../../../k3s/gates.ts'
import { KUBE_VIP_FILE, kubeVipManifest } from '../../../k3s/kube-vip.ts'
import { absentFiles, OPTIONAL_FILES, REGISTRIES_FILE } from '../../../k3s/node-files.ts'
import type { PutFiles } from '../../../k3s/node-program.ts'
import type { ClusterSecrets, NodeSpec, Registries } from '../../../model/cluster.ts'
import type { ClusterDeclaration } from '../../../model/estate.ts'
import type { Secret } from '../../../model/secret.ts'
import type { ClusterDeps } from '../../cluster-port.ts'
import { serverToken } from '../make-secrets.ts'
import type { StepContext } from '../node-lane.ts'

export type FileToPut = PutFiles['files'][number]

const TLS = '/var/lib/rancher/k3s/server/tls'

/** Returns the CA files for a server's first start, without the roots' keys. */
export function caFiles({ files }: ClusterSecrets): readonly FileToPut[] {
  return CA_FILES.flatMap(({ path, mode }) => {
    const content = files.get(path)
    return content === undefined ? [] : [fileOf(`${TLS}/${path}`, content.reveal(), mode)]
  })
}

/** Returns config.yaml, registries.yaml and the tokens of a server. */
export async function serverFiles(
  actor: StepContext,
  node: NodeSpec,
  place: ServerPlace,
  secrets: ClusterSecrets,
): Promise<readonly FileToPut[]> {
  return [...(await configFiles(actor, node, place)), ...tokenFiles(secrets)]
}

/** Returns the token files of servers and agents. */
export function tokenFiles(secrets: ClusterSecrets): readonly FileToPut[] {
  return [
    fileOf(TOKEN_FILE, `${serverToken(secrets).reveal()}\n`, 0o600),
    fileOf(AGENT_TOKEN_FILE, `${(secrets.agentPassword ?? secrets.password).reveal()}\n`, 0o600),
  ]
}

export async function agentFiles(actor: StepContext, node: NodeSpec, token: Secret): Promise<readonly FileToPut[]> {
  return [...(await configFiles(actor, node, 'member')), fileOf(AGENT_TOKEN_FILE, `${token.reveal()}\n`, 0o600)]
}

/** Returns the files that may change while a node is a member. */
export async function configFiles(
  actor: StepContext,
  node: NodeSpec,
  place: ServerPlace,
): Promise<readonly FileToPut[]> {
  const { spec } = actor.declaration
  const registries = spec.registries === undefined ? undefined : await registriesYaml(actor, spec.registries)
  const announced = node.role === 'server' ? kubeVipManifest(spec) : undefined
  const backup = node.role === 'server' ? backupFiles(spec.backup, await s3Credentials(actor)) : []
  return [
    ownConfig(actor, node, place),
    ...backup.map(({ path, text, mode }) => fileOf(path, text, mode)),
    ...(announced === undefined ? [] : [fileOf(KUBE_VIP_FILE, announced, 0o600)]),
    ...gatesOf(actor, node),
    ...(registries === undefined ? [] : [fileOf(REGISTRIES_FILE, registries, 0o600)]),
  ]
}

export function ownConfig(actor: StepContext, node: NodeSpec, place = placeOf(actor, node)): FileToPut {
  return fileOf(CONFIG_FILE, configFile(actor.declaration.spec, node, place, otherVoter(actor, node.name)), 0o600)
}

/** Returns the files, and the rest of croft's set as absent. */
export function wholeSet({ declaration }: StepContext, node: NodeSpec, files: readonly FileToPut[]): PutFiles {
  return { files, absent: absentFiles(declaration.spec, node) }
}

/** Returns the files that a running node accepts without a restart. */
export async function optionalFiles(actor: StepContext, node: NodeSpec): Promise<readonly FileToPut[]> {
  const files = await configFiles(actor, node, placeOf(actor, node))
  return files.filter(({ path }) => OPTIONAL_FILES.some((one) => one === path))
}

/** Returns the address of another voting server; a declared one before a leaving one. */
export function otherVoter({ declaration, memory }: StepContext, name: string): string | undefined {
  const declared = declaration.spec.servers.map((server) => server.name)
  return [...declared, ...memory.voters.keys()]
    .filter((server) => server !== name)
    .flatMap((server) => memory.voters.get(server) ?? [])[0]
}

/** A box has read no seed of croft: it gets its gates with its first files, and keeps its name. */
function gatesOf({ declaration }: StepContext, node: NodeSpec): readonly FileToPut[] {
  if (!('host' in node.machine)) return []
  const declared = declaration.gates ?? { deadlines: GATE_DEADLINES }
  const { hostname: _hostname, ...deadlines } = declared.deadlines
  return gateFiles({ ...declared, hostname: node.name, deadlines }).map(({ path, mode, text }) =>
    fileOf(path, text, Number.parseInt(mode, 8)),
  )
}

/** `access key:secret key`. */
export async function s3Credentials({
  declaration,
  deps,
}: {
  readonly declaration: Pick<ClusterDeclaration, 'spec'>
  readonly deps: Pick<ClusterDeps, 'resolveSecret'>
}): Promise<string | undefined> {
  const to = declaration.spec.backup?.to
  if (to === undefined || !('s3' in to) || to.s3.credentials === undefined) return undefined
  return (await deps.resolveSecret(to.s3.credentials)).word()
}

/**
 * Returns how a server starts. The only server, and the recorded first one until its API has answered once, forms its
 * cluster. All others, later also the first one, find the rest by their addresses.
 */
export function placeOf({ declaration, secrets }: StepContext, { name }: Pick<NodeSpec, 'name'>): ServerPlace {
  const begins = secrets?.formed === false && secrets.firstServer === name
  return begins || declaration.spec.servers.length === 1 ? 'first' : 'member'
}

/** As JSON, which is YAML. A credential is `user:password`. */
async function registriesYaml({ deps }: StepContext, { mirrors, configs }: Registries): Promise<string> {
  const resolved: Record<string, unknown> = Object.create(null)
  for (const [host, { auth, tls }] of Object.entries(configs ?? {})) {
    const text = auth === undefined ? undefined : (await deps.resolveSecret(auth)).word()
    const at = text?.indexOf(':') ?? -1
    resolved[host] = {
      ...(text === undefined
        ? {}
        : { auth: at < 0 ? { auth: text } : { username: text.slice(0, at), password: text.slice(at + 1) } }),
      ...(tls === undefined ? {} : { tls }),
    }
  }
  return `${JSON.stringify({ mirrors, configs: resolved })}\n`
}

export function fileOf(path: string, content: string, mode: number): FileToPut {
  return { path, mode: mode.toString(8).padStart(4, '0'), base64: Buffer.from(content).toString('base64') }
}
