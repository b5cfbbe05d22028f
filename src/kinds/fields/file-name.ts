import { fileName } from './text.ts'

const ENDINGS: Readonly<Record<string, RegExp>> = {
  iso: /\.(?:iso|img)$/i,
  vztmpl: /\.tar\.(?:gz|xz|zst|bz2)$/i,
  import: /\.(?:qcow2|raw|vmdk|ova)$/i,
}

/** The last part of an address, when it can be the name of a file. */
export function fileNameOf(url: string): string | undefined {
  const path = url.split(/[?#]/)[0] ?? ''
  const name = path.split('/').slice(3).at(-1) ?? ''
  return fileName.safeParse(name).success ? name : undefined
}

/** Returns why Proxmox refuses a file of this name for this content; undefined if it does not. */
export function wrongEnding(name: string, content: string): string | undefined {
  const expected = ENDINGS[content]
  if (expected === undefined || expected.test(name)) return undefined
  const wanted = {
    iso: '.iso or .img',
    vztmpl: '.tar.gz, .tar.xz, .tar.zst or .tar.bz2',
    import: '.qcow2, .raw, .vmdk or .ova',
  }
  return `a file of content ${content} must end in ${wanted[content as keyof typeof wanted]}, and ${name} does not`
}

/** Returns the hint for a refused extension. Only the name on the host counts: its source may call a qcow2 .img. */
export function endingHint(declared: string | undefined): string {
  return declared === undefined ? 'set fileName' : 'change the ending of fileName; the url may end otherwise'
}
