import type { Sealed } from './secret.ts'

/** A file that must be on a storage of a host: an image, an ISO, a container template. */
export interface FileSpec {
  readonly host: string
  readonly storage: string
  readonly content: 'iso' | 'vztmpl' | 'import' | 'snippets'
  readonly fileName: string
  /** The download's URL; empty for a snippet, whose text is in the declaration. */
  readonly url: string
  readonly snippet?: Snippet
  readonly checksum?: { readonly algorithm: string; readonly value: string }
  readonly decompression?: string
  /** `false` accepts a certificate that cannot be verified. */
  readonly verifyTls?: boolean
  /** Whether a file with another checksum or size may be replaced. If not, the difference is only reported. */
  readonly overwrite: boolean
}

/** A text that is written to a storage of files as it is. It may contain a secret. */
export interface Snippet {
  readonly text: Sealed<string>
  readonly bytes: number
  readonly sha256: string
  readonly mode: number
}

/** Returns Proxmox's name of the file: `local:import/noble.qcow2`. */
export function volumeId(file: Pick<FileSpec, 'storage' | 'content' | 'fileName'>): string {
  return `${file.storage}:${file.content}/${file.fileName}`
}
