/** The inputs of an image. All that determines its bytes is in here. */
export interface BuildSpec {
  readonly name: string
  readonly architecture: 'amd64' | 'arm64'
  readonly from: DebianBase | DiskBase
  readonly packages: readonly string[]
  readonly k3s?: K3sParts
  readonly files: readonly { readonly path: string; readonly content: string; readonly mode: string }[]
  /** Shell scripts that run inside the root, as root, once packages and files are there. */
  readonly run: readonly string[]
  /** Size of the disk. A machine made from it grows it to its own. */
  readonly sizeMb: number
  /** The time that everything in it bears, in seconds since 1970. */
  readonly epoch: number
}

/** Built from packages: it contains only requested ones. */
export interface DebianBase {
  readonly type: 'debian'
  readonly suite: string
  /** A mirror whose content may change with every day. */
  readonly mirror?: string
  /** A moment of snapshot.debian.org, which never changes: `20251101T000000Z`. */
  readonly snapshot?: string
}

/** A foreign disk image as the base: only its root partition is taken, without the traces of earlier boots. */
export interface DiskBase {
  readonly type: 'disk'
  readonly url: string
  readonly checksum: { readonly algorithm: 'sha256' | 'sha512'; readonly value: string }
}

export interface K3sParts {
  readonly version: string
  readonly binary: FetchedFile
  /** The container images that K3s would otherwise pull at its first start. */
  readonly images?: FetchedFile
}

export interface FetchedFile {
  readonly url: string
  readonly sha256: string
}

/** One program to run, as words. `input` is its stdin. */
export interface BuildStep {
  readonly summary: string
  readonly argv: readonly string[]
  readonly input?: string | Uint8Array
  readonly timeoutMs: number
}

export interface BuildPlan {
  readonly spec: BuildSpec
  /** Hash of all that determines its bytes. */
  readonly inputs: string
  readonly work: string
  /** Path of the finished image, with the hash of its inputs. */
  readonly output: string
  /** Programs, and whole paths of files, that must be there, with the Debian package that brings each. */
  readonly needs: readonly { readonly program: string; readonly package: string }[]
  readonly steps: readonly BuildStep[]
  /** Why two builds of the same inputs may differ. Empty: they do not. */
  readonly differences: readonly string[]
}
