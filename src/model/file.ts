/** A file that must be on a storage of a host: an image, an ISO, a container template. */
export interface FileSpec {
  readonly host: string
  readonly storage: string
  readonly content: 'iso' | 'vztmpl' | 'import'
  readonly fileName: string
  readonly url: string
  readonly checksum?: { readonly algorithm: string; readonly value: string }
  readonly decompression?: string
  /** `false` accepts a certificate that cannot be verified. */
  readonly verifyTls?: boolean
  /** May a file with another checksum or size be replaced? Without it a mismatch is reported and left alone. */
  readonly overwrite: boolean
}

/** `local:import/noble.qcow2`, the name by which Proxmox knows the file. */
export function volumeId(file: Pick<FileSpec, 'storage' | 'content' | 'fileName'>): string {
  return `${file.storage}:${file.content}/${file.fileName}`
}
