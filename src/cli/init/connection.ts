import { findKind } from '../../kinds/registry.ts'
import { WireFailure } from '../../lib/wire.ts'
import type { Connection } from '../../model/estate.ts'
import { link } from '../../plan/link.ts'
import { readFiles } from '../../source/files/read-files.ts'
import { note } from '../output.ts'
import { clean } from '../render/text.ts'
import type { LoadedEstate, Runtime } from '../runtime.ts'
import { CliError, EXIT, type Options } from '../verb.ts'
import { type InitPlace, refuseToReplace, wantsCluster, writeNew } from './files.ts'
import { connectionManifest } from './manifests.ts'
import { endpointOf } from './propose.ts'

const CONNECTION_FILE = 'proxmox.yaml'
const TOKEN_VARIABLE = 'PROXMOX_TOKEN'

/** Reports whether there is a connection now. */
export async function writeConnection(
  runtime: Runtime,
  place: InitPlace,
  { declarations }: LoadedEstate,
  mayAsk: boolean,
): Promise<boolean> {
  const { directory, real, options } = place
  if (options.proxmox === undefined) {
    const empty = declarations.every(({ kind }) => kind === 'Estate')
    if (wantsCluster(options)) throw new CliError(`No connection is declared in ${directory}. Add --proxmox ADDRESS.`)
    if (!empty || !mayAsk) return false
  }
  const given =
    options.proxmox ?? (await runtime.ask('Address of a Proxmox host, like 192.168.4.175 (Enter: not now): '))
  if (typeof given !== 'string' || given === '') return false
  const endpoint = endpointOf(given)
  if (endpoint === undefined)
    throw new CliError(`${clean(given)} is no address of a Proxmox host. Write https://HOST:8006.`)
  refuseToReplace(real, [CONNECTION_FILE])
  const variable = typeof options.tokenEnv === 'string' ? options.tokenEnv : TOKEN_VARIABLE
  const fingerprint = await knownCertificate(runtime, real, endpoint, options, mayAsk)
  await writeNew(runtime, place, CONNECTION_FILE, connectionManifest(endpoint, fingerprint, variable))
  return true
}

/** Returns the fingerprint to pin: nothing is sent to a host that neither this computer nor a person trusts. */
async function knownCertificate(
  runtime: Runtime,
  directory: string,
  endpoint: string,
  options: Options,
  mayAsk: boolean,
): Promise<string | undefined> {
  const { deps } = await runtime.openDrivers({ directory })
  const shown = await deps
    .lookAtCertificate?.(draftConnection(endpoint), runtime.signal)
    .catch((error: unknown): never => {
      if (!(error instanceof WireFailure)) throw error
      throw new CliError(
        `${endpoint} cannot be reached: ${clean(error.message)}. Check the address; Proxmox listens on port 8006.`,
      )
    })
  if (shown === undefined) return undefined
  const compare = 'openssl x509 -in /etc/pve/local/pve-ssl.pem -noout -fingerprint -sha256'
  if (typeof options.fingerprint === 'string') {
    const bare = (text: string) => text.replaceAll(':', '').toUpperCase()
    if (bare(options.fingerprint) === bare(shown.fingerprint)) return shown.fingerprint
    throw new CliError(
      `${endpoint} shows another certificate: ${shown.fingerprint}. Nothing was sent. Compare it on the host: ${compare}`,
      EXIT.unauthorized,
    )
  }
  if (shown.distrust === undefined) return undefined
  note(
    runtime,
    `${endpoint} shows a certificate that this computer does not know, with SHA-256\n  ${shown.fingerprint}\nCompare it on the host: ${compare}`,
  )
  if (mayAsk && (await runtime.ask('Type yes if it is the same: ')) === 'yes') return shown.fingerprint
  throw new CliError(
    `The next thing that croft sends is a token, so somebody has to know the certificate. If it is the one of the host, run it again with --fingerprint ${shown.fingerprint}`,
    EXIT.unauthorized,
  )
}

function draftConnection(endpoint: string): Connection {
  const text = connectionManifest(endpoint, undefined, TOKEN_VARIABLE)
  const read = readFiles({ files: [{ path: CONNECTION_FILE, bytes: Buffer.from(text) }], links: [] })
  const [connection] = link(read, { findKind }).connections
  if (connection === undefined) throw new CliError(`${endpoint} is no address of a Proxmox host.`)
  return connection
}
