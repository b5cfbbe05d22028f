/** One CA file below `server/tls`, written before the first server starts. */
export interface CaFile {
  /** Below `/var/lib/rancher/k3s/server/tls`. */
  readonly path: string
  readonly holds: 'certificates' | 'key' | 'service-account-keys'
  /** The authority: files of one authority belong together. */
  readonly authority: string
  readonly mode: number
}

const AUTHORITIES = ['server-ca', 'client-ca', 'request-header-ca', 'etcd/peer-ca', 'etcd/server-ca']

/**
 * All CA files. Their creator knows the K10 token and can sign an admin certificate before any node boots, and a
 * cluster rebuilt from them keeps its identity.
 */
export const CA_FILES: readonly CaFile[] = [
  ...AUTHORITIES.flatMap((authority): CaFile[] => [
    { path: `${authority}.crt`, holds: 'certificates', authority, mode: 0o644 },
    { path: `${authority}.key`, holds: 'key', authority, mode: 0o600 },
  ]),
  { path: 'service.key', holds: 'service-account-keys', authority: 'service', mode: 0o600 },
]

/** The certificate that a token's hash is taken from. */
export const TOKEN_CA_PATH = 'server-ca.crt'

/** Subject of an admin's certificate, signed by `client-ca`. */
export const ADMIN_SUBJECT = { commonName: 'system:admin', organizations: ['system:masters'] } as const
