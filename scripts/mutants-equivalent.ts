/** A bug that changes nothing anybody can see: no test can notice it. */
interface Equivalent {
  readonly file: string
  /** As `npm run test:mutants` prints it. */
  readonly change: string
  readonly why: string
}

export const EQUIVALENT: readonly Equivalent[] = []
