import { type FileSpec, type Snippet, volumeId } from '../../model/file.ts'
import type { Change, ObservedResource, Resource } from '../../model/resource.ts'
import type { Step } from '../../model/step.ts'
import { storagePath } from './steps.ts'

type SnippetObjection = NonNullable<Change['blocked']>

/** Returns why a snippet cannot be stored: the API never accepts one. */
export function withoutLane({ rootLane }: Resource, file: FileSpec): SnippetObjection | undefined {
  if (rootLane === true) return undefined
  return {
    message: `sourceRaw is a snippet (${volumeId(file)}), and Proxmox takes none over its API: it needs the SSH lane to ${file.host}, which is not configured`,
    allow: `add ssh to Host ${file.host}, or put the file there by hand and take it out of the declaration`,
  }
}

/**
 * Proxmox shows a file's size and time, not its content. So the host compares it whenever one of them changed since it
 * was last right.
 */
export function diffSnippet(
  resource: Resource,
  file: FileSpec,
  snippet: Snippet,
  observed: ObservedResource,
  known: Readonly<Record<string, string>>,
): readonly Change[] {
  const size = observed.close?.config.size
  const otherSize = size !== snippet.bytes
  if (!otherSize && (known.verified === stampOf(snippet, observed) || resource.policy.manage === 'observe')) return []
  const from = otherSize ? `${Number(size)} bytes` : known.verified === undefined ? 'not compared yet' : 'written since'
  const change = {
    path: 'content',
    from,
    to: `${snippet.bytes} bytes, sha256:${snippet.sha256}`,
    effect: 'live' as const,
  }
  const blocked = withoutLane(resource, file) ?? (otherSize && !file.overwrite ? notOverwritten(file) : undefined)
  if (blocked !== undefined) return [{ ...change, blocked }]
  return file.overwrite ? [change] : []
}

function notOverwritten(file: FileSpec): SnippetObjection {
  return {
    message: `${volumeId(file)} on ${file.host} is there with another text, and overwrite is false`,
    allow: 'set overwrite: true, or remove the file',
  }
}

export function writeSnippetStep(file: FileSpec, snippet: Snippet, observed?: ObservedResource): Step {
  const id = volumeId(file)
  return {
    verb: 'upload',
    summary: `write ${id} on ${file.host} as root, over SSH`,
    lane: 'commands',
    host: file.host,
    queues: [],
    on: `${storagePath(file.host, file.storage)}/content/${encodeURIComponent(id)}`,
    commands: [{ do: 'put-snippet', volume: id, sha256: snippet.sha256, mode: snippet.mode, text: snippet.text }],
    // A file that is right keeps its time. Otherwise the next look sees a new one and it is compared again.
    ...(observed === undefined ? {} : { learns: { done: { verified: stampOf(snippet, observed) } } }),
    disruption: 'none',
  }
}

function stampOf({ sha256 }: Snippet, { close }: ObservedResource): string {
  return `${sha256} ${Number(close?.config.size)} ${Number(close?.config.ctime)}`
}
