/** Something that a person, or a program in their name, asked for, and what became of it. Never changed afterwards. */
export interface AuditEntry {
  readonly seq: number
  readonly atMs: number
  /** `page:anna`, `token:ci`, `cli:root`, `git:Anna <anna@example.org>`. */
  readonly actor: string
  readonly from: 'page' | 'api' | 'cli' | 'git'
  /** `approve`, `suspend`, `commit`… */
  readonly what: string
  /** What it was about: a key, a commit. */
  readonly subject?: string
  readonly outcome: 'done' | 'refused'
  readonly message: string
}

export type NewAuditEntry = Omit<AuditEntry, 'seq'>
