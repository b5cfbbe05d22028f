import { type Wire, WireFailure } from '../../lib/wire.ts'
import type { Connection } from '../../model/estate.ts'
import type { DriverDeps } from '../port.ts'
import { readProviderCredentials } from './provider-credentials.ts'

/** Returns the connection with its real address, and its token. Throws an Error with the reason if there is none. */
export async function loginOf(
  connection: Connection,
  deps: Pick<DriverDeps, 'resolveSecret'>,
): Promise<{ readonly connection: Connection; readonly token: string }> {
  const { credentials, token, fingerprint } = connection
  if (credentials !== undefined) {
    const login = readProviderCredentials((await deps.resolveSecret(credentials)).reveal(), fingerprint !== undefined)
    if ('problem' in login) throw new Error(`the secret of ProviderConfig ${connection.name}: ${login.problem}`)
    return { connection: { ...connection, endpoint: login.endpoint }, token: login.token.reveal() }
  }
  if (token === undefined) throw new Error('spec.token is not set')
  return { connection, token: (await deps.resolveSecret(token)).word() }
}

/** Opens the wire of a connection whose address may be inside its secret: then with the first request. */
export function openWireOf(connection: Connection, deps: DriverDeps): Wire {
  if (connection.credentials === undefined) return deps.openWire(connection)
  let opening: Promise<Wire> | undefined
  const open = () => {
    opening ??= loginOf(connection, deps).then((login) => deps.openWire(login.connection))
    opening.catch(() => {
      opening = undefined
    })
    return opening
  }
  return {
    send: async (request, signal) => (await open()).send(request, signal),
    async dial(signal) {
      const { dial } = await open()
      if (dial === undefined) throw new WireFailure('no', 'ERR_NO_LINE', 'this way carries no web socket')
      return dial(signal)
    },
    close: async () => (await opening?.catch(() => undefined))?.close(),
  }
}
