import type { FileSpec } from '../../model/file.ts'

/** Returns the list of a file: one storage of one host, read in one call. */
export function fileList({ host, storage }: Pick<FileSpec, 'host' | 'storage'>): string {
  return `files/${host}/${storage}`
}

export function parseFileList(list: string): { readonly host: string; readonly storage: string } {
  const [, host = '', storage = ''] = list.split('/')
  return { host, storage }
}

/** Returns the list of an id's disks on one storage of one host, with or without such a guest. */
export function diskList(host: string, storage: string, externalId: string): string {
  return `disks/${host}/${storage}/${externalId}`
}

export function parseDiskList(list: string): { host: string; storage: string; externalId: string } | undefined {
  const [, host, storage, externalId] = /^disks\/([^/]+)\/([^/]+)\/(\d+)$/.exec(list) ?? []
  return host === undefined || storage === undefined || externalId === undefined
    ? undefined
    : { host, storage, externalId }
}
