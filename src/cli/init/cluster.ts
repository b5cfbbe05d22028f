import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import { type Driver, type DriverDeps, ObservationFailed, type Session } from '../../drivers/port.ts'
import { releaseOf } from '../../k3s/releases.ts'
import { ipv4, ipv4Cidr } from '../../kinds/fields/address.ts'
import { sshKey } from '../../kinds/fields/text.ts'
import { shellWord } from '../../lib/shell-quoted.ts'
import type { Connection } from '../../model/estate.ts'
import { closing } from '../load.ts'
import { note } from '../output.ts'
import { clean } from '../render/text.ts'
import type { LoadedEstate, Runtime } from '../runtime.ts'
import { CliError, type Options } from '../verb.ts'
import { type InitPlace, refuseToReplace, wantsCluster, writeNew } from './files.ts'
import { type Found, lookAround, whoAnswers } from './found.ts'
import { type Choices, clusterManifest, groundManifests, usualRelease } from './manifests.ts'
import {
  addressesIn,
  bridgeNames,
  diskStorages,
  exampleRange,
  fileStorages,
  networkOn,
  propose,
  readRange,
} from './propose.ts'
import { answerTo, type InitQuestion, oneOf, type ReadAnswer } from './question.ts'

const GROUND_FILE = 'ground.yaml'
const CLUSTER_FILE = 'cluster.yaml'
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/

/** Reports whether ground and cluster were written. */
export async function writeCluster(
  runtime: Runtime,
  place: InitPlace,
  loaded: LoadedEstate,
  mayAsk: boolean,
): Promise<boolean> {
  const { directory, real, options } = place
  const wanted = wantsCluster(options)
  const bare = loaded.declarations.every(({ kind }) => kind === 'Estate' || kind === 'Proxmox')
  if (!wanted && (!mayAsk || !bare)) return false
  const connection = loaded.estate.connections.find(({ driver }) => driver === 'proxmox')
  if (connection === undefined) {
    if (wanted)
      throw new CliError(`${directory} declares no Proxmox. croft init writes first clusters on Proxmox only.`)
    return false
  }
  refuseToReplace(real, [GROUND_FILE, CLUSTER_FILE])
  refuseWithoutToken(runtime, place, loaded)
  if (!wanted && (await runtime.ask('Write a first cluster? (yes) ')) === 'no') return false
  const { drivers, deps } = await runtime.openDrivers({ directory: real })
  const driver = drivers.find(({ name }) => name === connection.driver)
  if (driver === undefined) return false
  const choices = await chosen(runtime, place, { driver, connection, deps }, mayAsk)
  await writeNew(runtime, place, GROUND_FILE, groundManifests(choices))
  await writeNew(runtime, place, CLUSTER_FILE, clusterManifest(choices))
  if (choices.login === undefined)
    note(
      runtime,
      'No login was written for the nodes: the guest agent is the only way in, and while croft is away the console of Proxmox is none without a password. Add user and sshKeys to MachineClass server before the first apply, or begin with --ssh-key.',
    )
  return true
}

async function chosen(
  runtime: Runtime,
  { directory, options }: InitPlace,
  { driver, connection, deps }: { readonly driver: Driver; readonly connection: Connection; readonly deps: DriverDeps },
  mayAsk: boolean,
): Promise<Choices> {
  try {
    await using session = closing(driver.connect(connection, deps))
    const found = await lookAround(driver, session.it, runtime.signal)
    if (found.hosts.length === 0) throw new CliError(`No host of ${connection.endpoint} is on.`)
    note(runtime, `Hosts that are on: ${found.hosts.join(', ')}.`)
    if (found.off.length > 0) note(runtime, `Left out, because they are off: ${found.off.join(', ')}.`)
    return await answers(runtime, options, found, session.it, mayAsk)
  } catch (error) {
    if (!(error instanceof ObservationFailed)) throw error
    throw new CliError(
      `${connection.endpoint} does not answer as it should: ${error.refusal.message}. Run croft doctor ${shellWord(directory)} to see why, then croft init again.`,
    )
  }
}

async function answers(
  runtime: Runtime,
  options: Options,
  found: Found,
  session: Session,
  mayAsk: boolean,
): Promise<Choices> {
  const proposal = propose(found)
  const ask = <T>(question: InitQuestion<T>) => answerTo(runtime, question, mayAsk)
  const bridge = await ask({
    flag: '--bridge',
    given: options.bridge,
    words: 'Bridge for the machines',
    proposed: proposal.bridge,
    read: oneOf(bridgeNames(found), 'this bridge'),
  })
  const disks = await ask({
    flag: '--disks',
    given: options.disks,
    words: 'Storage for their disks',
    proposed: proposal.disks,
    read: oneOf(diskStorages(found), 'this storage, with content images'),
  })
  const files = await ask({
    flag: '--files',
    given: options.files,
    words: 'Storage for images',
    proposed: proposal.files,
    read: oneOf(fileStorages(found), 'this storage, with contents import and iso'),
  })
  const seen = networkOn(found, bridge)
  const network = await ask({
    flag: '--network',
    given: options.network,
    words: 'Network behind the bridge',
    proposed: seen.network,
    read: (text) => (ipv4Cidr.safeParse(text).success ? { is: text } : { problem: 'write it like 192.168.4.0/24' }),
  })
  const gateway = await ask({
    flag: '--gateway',
    given: options.gateway,
    words: 'Gateway of that network',
    proposed: seen.gateway,
    read: (text) => (ipv4.safeParse(text).success ? { is: text } : { problem: 'write an address like 192.168.4.1' }),
  })
  const cluster = await ask({
    flag: '--cluster',
    given: options.cluster,
    words: 'Name of the cluster',
    proposed: 'home',
    read: (text) => (NAME.test(text) ? { is: text } : { problem: 'lower case letters, digits and dashes, at most 32' }),
  })
  const servers = await ask({
    flag: '--servers',
    given: options.servers,
    words: 'How many servers, 1, 3 or 5',
    proposed: String(proposal.servers),
    read: (text) =>
      ['1', '3', '5'].includes(text)
        ? { is: Number(text) }
        : { problem: '1, 3 or 5: an even number is no safer than one less' },
  })
  const k3s = await ask({
    flag: '--k3s',
    given: options.k3s,
    words: 'Version of K3s',
    proposed: usualRelease(),
    read: (text) => (releaseOf(text) === undefined ? { problem: `write it like ${usualRelease()}` } : { is: text }),
  })
  const addresses = await ask({
    flag: '--addresses FROM-TO',
    given: options.addresses,
    words: `Free addresses for machines, outside what your router gives out, like ${exampleRange(network)}`,
    read: (text) => readRange(text, { network, gateway, servers }, found),
  })
  const key = await ask({
    flag: '--ssh-key',
    given: options.sshKey,
    words: 'Public SSH key, or its file, for a login on the nodes',
    proposed: NO_KEY,
    read: (text) => readPublicKey(text, runtime.cwd),
  })
  const login =
    key === NO_KEY ? undefined : { user: typeof options.login === 'string' ? options.login : 'ops', sshKey: key }
  const [used] = await whoAnswers(session, found.hosts[0] ?? '', addressesIn(addresses), runtime.signal)
  if (used !== undefined)
    throw new CliError(`${used.address} is in use by ${clean(used.by)}. Choose other addresses: --addresses FROM-TO.`)
  const { hosts } = found
  const { nameServers } = proposal
  return { hosts, bridge, disks, files, network, gateway, nameServers, addresses, cluster, servers, k3s, login }
}

/** The answer for no login. */
const NO_KEY = 'none'

/** A public key as it is written, or from its file. The private half is refused in words. */
export function readPublicKey(text: string, cwd: string): ReadAnswer<string> {
  if (text === NO_KEY || sshKey.safeParse(text).success) return { is: text }
  const file = path.resolve(cwd, text.replace(/^~(?=\/)/, homedir()))
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    return { problem: `write a public key (ssh-ed25519 …), the file of one, or ${NO_KEY}` }
  const content = readFileSync(file, 'utf8').trim()
  if (sshKey.safeParse(content).success) return { is: content }
  return { problem: `${text} holds no public key; its file ends with .pub` }
}

/** Stops without a token: nothing can be read. Written files stay, and the same command goes on from there. */
function refuseWithoutToken(runtime: Runtime, { directory }: InitPlace, { declarations }: LoadedEstate): void {
  const spec = declarations.find(({ kind }) => kind === 'Proxmox')?.spec as { token?: { env?: string } } | undefined
  const variable = spec?.token?.env
  if (variable === undefined || (runtime.env[variable] ?? '') !== '') return
  throw new CliError(
    `${variable} is not set: croft needs a token to see bridges and storages. On one of the hosts, as root:
  pveum user token add root@pam croft --privsep 0
Then here, with the value that it prints, and then croft init again:
  export ${variable}='root@pam!croft=VALUE'
Replace it later by one that can do less: croft doctor ${shellWord(directory)} --role prints the commands.`,
  )
}
