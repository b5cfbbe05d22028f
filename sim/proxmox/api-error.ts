/** An answer that refuses. The text goes into the status line and, with a line break, into the body. */
export class ApiError extends Error {
  readonly status: number
  readonly errors: Readonly<Record<string, string>> | undefined
  constructor(status: number, message: string, errors?: Readonly<Record<string, string>>) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.errors = errors
  }
}

/** What the daemon's own code says when it dies: nearly everything that is wrong answers 500. */
export const failed = (message: string) => new ApiError(500, message)

export const forbidden = (detail?: string) =>
  new ApiError(403, detail === undefined ? 'Permission check failed' : `Permission check failed (${detail})`)

export const badParameter = (name: string, text: string) => badParameters({ [name]: text })

export const badParameters = (errors: Record<string, string>) =>
  new ApiError(400, 'Parameter verification failed.', errors)

/** Refuses to pass a call on to a node whose address is unknown. */
export const unknownNode = (name: string) =>
  failed(
    `hostname lookup '${name}' failed - failed to get address info for: ${name}: Temporary failure in name resolution`,
  )

/** A file of the host is named where a volume belongs. */
export function onlyRootNamesPaths(): ApiError {
  return failed('Only root can pass arbitrary filesystem paths. at /usr/share/perl5/PVE/Storage.pm line 651.')
}

/** A call that Proxmox VE has and the simulator does not. */
export const notSimulated = (call: string) => new ApiError(501, `${call} is part of Proxmox VE but is not simulated`)
