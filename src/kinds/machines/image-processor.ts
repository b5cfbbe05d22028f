/** Processor names in file names of images. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/(?:^|[^a-z0-9])(?:arm64|aarch64)(?![a-z0-9])/i, 'aarch64'],
  [/(?:^|[^a-z0-9])(?:amd64|x86[_-]64)(?![a-z0-9])/i, 'x86_64'],
]

/** Returns the processor in an image's name; undefined if it has none, or several. Pure. */
export function processorIn(image: string): string | undefined {
  const name = image.split('/').at(-1) ?? ''
  const found = NAMES.filter(([pattern]) => pattern.test(name)).map(([, processor]) => processor)
  return found.length === 1 ? found[0] : undefined
}
