import { BACKUP_MOUNT, s3Location } from '../../k3s/backup-flags.ts'
import { NODE_PROGRAM_TEXT } from '../../k3s/programs.ts'
import { nameOf, numberOf, recordsOf, textOf } from '../../kubernetes/objects.ts'
import { cleanText } from '../../lib/clean-text.ts'
import { defined } from '../../lib/defined.ts'
import { recordIn } from '../../lib/foreign-json.ts'
import { LIMITS } from '../../lib/limits.ts'
import { egressFromHere, permitPlace } from '../../lib/outgoing.ts'
import { s3Server } from '../../lib/s3-request.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import type { BackupPolicy, ClusterSecrets } from '../../model/cluster.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import type { ClusterSnapshot } from '../../model/observed-cluster.ts'
import type { ClusterDeps, ClusterSurroundings, StoredBackups } from '../cluster-port.ts'
import { tokenKept } from './observe-api.ts'
import { s3Credentials } from './steps/node-files.ts'

type BackedUpCluster = Pick<ClusterDeclaration, 'spec' | 'egress'>

/**
 * Lists the disks of the servers that answer, and the share, directory or bucket of the declaration. A server that was made
 * anew holds nothing, and leads to the share all the same.
 */
export async function storedBackups(
  declaration: BackedUpCluster,
  deps: Pick<ClusterDeps, 'resolveSecret' | 'listBucket' | 'vault'>,
  { nodes }: ClusterSurroundings,
  secrets: ClusterSecrets | undefined,
  signal: AbortSignal,
): Promise<StoredBackups> {
  const { servers, backup } = declaration.spec
  const reached = servers.flatMap(({ name }): readonly [string, Shell][] => {
    const shell = nodes.get(name)?.shell
    return shell === undefined ? [] : [[name, shell]]
  })
  const unread: string[] = []
  const ask = async (server: string, shell: Shell, words: readonly string[], place: string) => {
    const reply = await asked(shell, words, signal)
    if ('error' in reply) unread.push(`${place}: ${reply.error}`)
    return 'error' in reply ? [] : filesIn(reply.answer, server)
  }
  const disks = reached.map(([name, shell]) => ask(name, shell, ['facts'], name))
  const place = placeOnNodes(backup?.to)
  const [first] = reached
  const elsewhere =
    place === undefined || first === undefined
      ? []
      : place.startsWith('/')
        ? reached.map(([name, shell]) => ask(name, shell, ['backups', place], `${place} on ${name}`))
        : [ask(first[0], first[1], ['backups', place], `${place} from ${first[0]}`)]
  const inBucket = bucketOf(declaration, deps, secrets, unread, signal)
  const found = [...(await Promise.all([...disks, ...elsewhere])).flat(), ...(await inBucket)]
  if (reached.length === 0 && place !== undefined)
    unread.push(`${place}: no server of the cluster can be reached to look there`)
  const places = new Map(found.map((one) => [`${one.node ?? ''} ${one.location ?? ''}`, one]))
  return { snapshots: [...places.values()], unread: [...new Set(unread)] }
}

/** What the file says itself; a share that this server has not mounted is mounted for the question. */
export async function tokenInFile(
  { spec }: BackedUpCluster,
  shell: Shell | undefined,
  path: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (shell === undefined) return undefined
  const place = placeOnNodes(spec.backup?.to)
  const share = place !== undefined && !place.startsWith('/') && path.startsWith(`${BACKUP_MOUNT}/`) ? [place] : []
  const reply = await asked(shell, ['token-of', path, ...share], signal)
  const hash = 'error' in reply ? undefined : reply.answer.tokenHash
  return typeof hash === 'string' && /^[0-9a-f]{12}$/.test(hash) ? hash : undefined
}

/** As the program on a node is asked for it: a directory, or `server:/path`. */
function placeOnNodes(to: BackupPolicy['to'] | undefined): string | undefined {
  if (to === undefined || 's3' in to) return undefined
  return 'directory' in to ? to.directory : `${to.nfs.server}:${to.nfs.path}`
}

type Reply = { readonly answer: Readonly<Record<string, unknown>> } | { readonly error: string }

/** Sends the program with the question: a recreated machine has none. */
async function asked(shell: Shell, words: readonly string[], signal: AbortSignal): Promise<Reply> {
  const options = { input: NODE_PROGRAM_TEXT, timeoutMs: LIMITS.commandTimeoutMs, signal }
  try {
    const { stdout, stderr } = await shell.run(['/bin/sh', '-s', '--', ...words], options)
    const answer = recordIn(stdout.trim().split('\n').at(-1) ?? '')
    if (answer === undefined) return { error: cleanText(stderr.trim() || 'the program on the node answers nothing') }
    return answer.ok === false ? { error: cleanText(textOf(answer.error) ?? 'no reason given') } : { answer }
  } catch (error) {
    if (error instanceof ShellFailure) return { error: cleanText(error.message) }
    throw error
  }
}

function filesIn(answer: Readonly<Record<string, unknown>>, server: string): readonly ClusterSnapshot[] {
  return recordsOf(answer.snapshots).flatMap((file): readonly ClusterSnapshot[] => {
    const [name, path, bytes] = [nameOf(file.name), textOf(file.path), numberOf(file.bytes)]
    if (name === undefined || path === undefined) return []
    const location = `file://${path}`
    return [
      { name, atMs: numberOf(file.atMs) ?? 0, tokenKept: 'unknown', location, node: server, ...defined({ bytes }) },
    ]
  })
}

async function bucketOf(
  declaration: BackedUpCluster,
  deps: Pick<ClusterDeps, 'resolveSecret' | 'listBucket'>,
  secrets: ClusterSecrets | undefined,
  unread: string[],
  signal: AbortSignal,
): Promise<readonly ClusterSnapshot[]> {
  const to = declaration.spec.backup?.to
  if (to === undefined || !('s3' in to) || deps.listBucket === undefined) return []
  const { endpoint, bucket, folder, region } = to.s3
  try {
    const [access, ...secret] = (await s3Credentials({ declaration, deps }))?.split(':') ?? []
    const keys = access === undefined ? undefined : { access, secret: secret.join(':') }
    const target = { endpoint, bucket, ...defined({ region, keys }) }
    const place = permitPlace(s3Server(target), egressFromHere(declaration.egress))
    const objects = await deps.listBucket(place, target, folder, signal)
    return objects.map(({ name, bytes, atMs, metadata }) => {
      const hash = metadata.get('k3s-token-hash')
      const kept = secrets === undefined ? 'unknown' : tokenKept(hash, secrets)
      return { name, atMs, bytes, tokenKept: kept, location: s3Location(to.s3, name), ...defined({ tokenHash: hash }) }
    })
  } catch (error) {
    unread.push(`s3://${bucket} at ${endpoint}: ${cleanText(error instanceof Error ? error.message : String(error))}`)
    return []
  }
}
