/** A bug that changes nothing anybody can see: no test can notice it. */
interface Equivalent {
  readonly file: string
  /** As `npm run test:mutants` prints it. */
  readonly change: string
  readonly why: string
}

export const EQUIVALENT: readonly Equivalent[] = [
  {
    file: 'src/drivers/proxmox/property-string.ts',
    change: '< → <=: if (equals !== -1 && equals < end)',
    why: 'the place of an equals sign is never the place of a comma, nor the end of the text',
  },
]
