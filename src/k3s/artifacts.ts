import type { ArtifactSource } from '../model/estate.ts'
import { parseVersion } from './version.ts'

export type Architecture = 'amd64' | 'arm64' | 'arm'

const OFFICIAL = 'https://github.com/k3s-io/k3s/releases/download'

/** Returns K3s' name of an architecture; undefined if K3s does not support it. */
export function architectureOf(machine: string): Architecture | undefined {
  if (machine === 'x86_64' || machine === 'amd64') return 'amd64'
  if (machine === 'aarch64' || machine === 'arm64') return 'arm64'
  return machine.startsWith('arm') ? 'arm' : undefined
}

/** Returns where to find a release's program, in the declared order: URLs, or files on the node itself. */
export function programSources(
  sources: readonly ArtifactSource[],
  version: string,
  architecture: Architecture,
): readonly string[] {
  const list = sources.length === 0 ? [{ release: true } as const] : sources
  return list.map((source) =>
    'file' in source
      ? filled(source.file, version, architecture)
      : `${baseOf(source, version, architecture)}/${fileName(architecture)}`,
  )
}

/** Returns where to find a release's checksums. A file on a node has none: it must be declared. */
export function checksumSources(
  sources: readonly ArtifactSource[],
  version: string,
  architecture: Architecture,
): readonly { readonly url: string; readonly declared: boolean }[] {
  const list = sources.length === 0 ? [{ release: true } as const] : sources
  return list.flatMap((source) =>
    'file' in source
      ? []
      : {
          url: `${baseOf(source, version, architecture)}/sha256sum-${architecture}.txt`,
          declared: 'mirror' in source,
        },
  )
}

/** The checksum of the program in a `sha256sum-…txt`; the file names images as well. */
export function checksumIn(text: string, architecture: Architecture): string | undefined {
  for (const line of text.split('\n')) {
    const match = /^([0-9a-f]{64}) [ *](\S+)\s*$/.exec(line)
    if (match?.[2] === fileName(architecture)) return match[1]
  }
  return undefined
}

/** Some servers read a plus sign in a URL as a space. */
function baseOf(source: Exclude<ArtifactSource, { file: string }>, version: string, arch: Architecture): string {
  const tag = encodeURIComponent(version)
  if ('release' in source) return `${OFFICIAL}/${tag}`
  const base = source.mirror.replace(/\/+$/, '')
  return base.includes('{version}') ? filled(base, tag, arch) : `${base}/${tag}`
}

function fileName(architecture: Architecture): string {
  return { amd64: 'k3s', arm64: 'k3s-arm64', arm: 'k3s-armhf' }[architecture]
}

function filled(text: string, version: string, architecture: Architecture): string {
  return text.replaceAll('{version}', version).replaceAll('{arch}', architecture)
}

/** Reports whether the version is exact: others are never fetched. */
export function isRelease(version: string): boolean {
  return parseVersion(version) !== undefined
}
