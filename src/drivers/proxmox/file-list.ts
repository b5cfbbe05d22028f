import type { FileSpec } from '../../model/file.ts'

/** The list that shows a file: one storage of one host, read in one call. */
export function fileList({ host, storage }: Pick<FileSpec, 'host' | 'storage'>): string {
  return `files/${host}/${storage}`
}

export function parseFileList(list: string): { readonly host: string; readonly storage: string } {
  const [, host = '', storage = ''] = list.split('/')
  return { host, storage }
}
