import { lines, words } from '../vm/cloud-init.ts'
import type { CloudInitDrive } from './drives.ts'
import { block, type ConfigReading, some, unless } from './reading.ts'

const USUAL_SLOT = 'ide2'
const KEYS = /^(?:ciuser|citype|ciupgrade|cicustom|nameserver|searchdomain|sshkeys|ipconfig\d+)$/

/** The cloud-init block. Without a drive that carries it nothing of it can be declared. */
export function importCloudInit(from: ConfigReading, drive: CloudInitDrive | undefined) {
  if (from.text('cipassword') !== undefined)
    from.note('a cloud-init password is set; it cannot be read, is not declared, and stays as it is')
  if (drive === undefined) {
    for (const key of from.keys.filter((one) => KEYS.test(one))) from.leave(key)
    return undefined
  }
  const custom = from.properties('cicustom', '')
  return block({
    datastoreId: drive.storage,
    interface: unless(USUAL_SLOT, drive.slot),
    type: from.text('citype'),
    upgrade: unless(true, from.flag('ciupgrade')),
    dns: block({
      domain: unless('', from.text('searchdomain')),
      servers: some(words(from.text('nameserver'))),
    }),
    userAccount: block({ username: unless('', from.text('ciuser')), keys: some(lines(from.text('sshkeys'))) }),
    ipConfig: addresses(from),
    userDataFileId: custom?.text('user'),
    networkDataFileId: custom?.text('network'),
    metaDataFileId: custom?.text('meta'),
    vendorDataFileId: custom?.text('vendor'),
  })
}

/** The position in the list is the number of the card. What comes after an entry that cannot be said is left out. */
function addresses(from: ConfigReading): readonly unknown[] | undefined {
  const slots = from.keys.filter((key) => /^ipconfig\d{1,2}$/.test(key))
  const found: unknown[] = []
  let broken = false
  for (const key of slots) {
    const parts = from.properties(key, '')
    const v4 = { address: parts?.text('ip'), gateway: parts?.text('gw') }
    const v6 = { address: parts?.text('ip6'), gateway: parts?.text('gw6') }
    broken ||= parts === undefined || !sayable(v4) || !sayable(v6)
    if (broken) {
      from.leave(key)
      continue
    }
    while (found.length < Number(key.slice('ipconfig'.length))) found.push({})
    const ipv4 = block(v4)
    const ipv6 = block(v6)
    found.push({ ...(ipv4 === undefined ? {} : { ipv4 }), ...(ipv6 === undefined ? {} : { ipv6 }) })
  }
  return some(found)
}

/** A gateway goes with a static address. */
function sayable({ address, gateway }: { readonly address: string | undefined; readonly gateway: string | undefined }) {
  return gateway === undefined || (address !== undefined && !/^(?:dhcp|auto|manual)$/i.test(address))
}
