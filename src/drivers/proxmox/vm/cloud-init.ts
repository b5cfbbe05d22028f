import type { VmCloudInit, VmSpec } from '../../../model/vm.ts'
import { type ApiFields, decoded } from '../foreign.ts'
import { device } from '../parts.ts'
import { parseProperties } from '../property-string.ts'
import { storageOf } from './disks.ts'
import { scalar, textOf, type VmOption } from './option.ts'

/*
 * Cloud-init settings. Proxmox stores them at once, also for a running guest, and none is pending. The guest reads them
 * at its next start: that rewrites the drive, and the instance id changes with its content. croft restarts no machine
 * only for them.
 */

export const cloudInitDnsServers = scalar<readonly string[]>({
  path: 'cloudInit.dnsServers',
  key: 'nameserver',
  effect: 'live',
  declared: (vm) => vm.cloudInit?.dnsServers,
  observed: (config) => words(textOf(config.nameserver)),
  print: (servers) => servers.join(' '),
  same: sameList,
})

/** Proxmox requires that the keys are percent-encoded twice, by us and by the form, and refuses `+`. */
export const cloudInitSshKeys = scalar<readonly string[]>({
  path: 'cloudInit.sshKeys',
  key: 'sshkeys',
  effect: 'live',
  declared: (vm) => vm.cloudInit?.sshKeys?.map((key) => key.trim()),
  observed: (config) => lines(textOf(config.sshkeys)),
  print: (keys) => encodeURIComponent(keys.join('\n')),
  same: sameList,
})

/**
 * A password can be set but not read, so only a missing one is a difference. The value stays a reference until it is
 * sent.
 */
export const cloudInitPassword: VmOption = {
  create({ spec: vm }, params) {
    if (vm.cloudInit?.password !== undefined) params.cipassword = JSON.stringify(vm.cloudInit.password)
  },
  compare({ spec: vm }, config, changes) {
    if (vm.cloudInit?.password === undefined || config.cipassword !== undefined) return
    changes.push({ path: 'cloudInit.password', from: undefined, to: '***', effect: 'live', secret: true })
  },
  update({ spec: vm }, _config, params, chosen) {
    if (chosen.has('cloudInit.password') && vm.cloudInit?.password !== undefined)
      params.cipassword = JSON.stringify(vm.cloudInit.password)
  },
}

/** Parameters with a reference to a secret, resolved only for the request. */
export const SECRET_PARAMS: readonly string[] = ['cipassword']

const ADDRESS_PARTS = [
  ['v4', 'ip'],
  ['gateway4', 'gw'],
  ['v6', 'ip6'],
  ['gateway6', 'gw6'],
] as const

/** `ipconfigN` belongs to the network card `netN`. */
export const cloudInitAddresses: VmOption = {
  create({ spec: vm }, params) {
    vm.cloudInit?.addresses?.forEach((address, at) => {
      const text = printAddress(address)
      if (text !== '') params[`ipconfig${at}`] = text
    })
  },
  compare({ spec: vm }, config, changes) {
    vm.cloudInit?.addresses?.forEach((address, at) => {
      const text = textOf(config[`ipconfig${at}`]) ?? ''
      const seen = parseProperties(text, '')
      const differs = ADDRESS_PARTS.some(([field, key]) => normal(address[field]) !== normal(seen.get(key)))
      if (!differs) return
      changes.push({ path: `cloudInit.addresses.${at}`, from: text, to: printAddress(address), effect: 'live' })
    })
  },
  update({ spec: vm }, _config, params, chosen) {
    vm.cloudInit?.addresses?.forEach((address, at) => {
      if (chosen.has(`cloudInit.addresses.${at}`)) params[`ipconfig${at}`] = printAddress(address)
    })
  },
}

/** Documents on a storage that replace Proxmox's own. */
export const cloudInitCustom = device<VmSpec, VmCloudInit>({
  path: 'cloudInit',
  key: 'cicustom',
  bare: '',
  effect: 'live',
  whenMissing: 'its parts',
  declared: (vm) => vm.cloudInit,
  parts: [
    { field: 'userData', key: 'user' },
    { field: 'networkData', key: 'network' },
    { field: 'metaData', key: 'meta' },
    { field: 'vendorData', key: 'vendor' },
  ],
})

function printAddress(address: { readonly [field: string]: string | undefined }): string {
  return ADDRESS_PARTS.flatMap(([field, key]) =>
    address[field] === undefined ? [] : [`${key}=${address[field]}`],
  ).join(',')
}

function normal(address: string | undefined): string {
  return address?.trim().toLowerCase() ?? ''
}

export function words(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(/[\s,;]+/).filter((part) => part !== '')
}

export function lines(encoded: string | undefined): string[] {
  if (encoded === undefined) return []
  return decoded(encoded)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function sameList(declared: readonly string[], observed: readonly string[]): boolean {
  return declared.length === observed.length && declared.every((item, at) => item === observed[at])
}

const DRIVE_SLOT = /^(?:ide[0-3]|sata[0-5]|scsi(?:[12]?\d|30))$/
const CLOUD_INIT_VOLUME = /(?:^|[:/])(?:vm-\d+-)?cloudinit(?:\.\w+)?$/

/**
 * The drive with the cloud-init data. Proxmox allows one; if a guest has it in another slot, that one is used and
 * nothing moves.
 */
export const cloudInitDrive: VmOption = {
  create({ spec: vm }, params) {
    if (vm.cloudInit !== undefined) params[vm.cloudInit.slot] = newDrive(vm.cloudInit)
  },
  compare({ spec: vm }, config, changes) {
    if (vm.cloudInit === undefined) return
    const from = storageOf(volumeAt(config, vm.cloudInit.slot) ?? anywhere(config))
    const to = vm.cloudInit.storage
    // A disc can change at any time; a new drive is a new device.
    const effect = from === undefined ? 'restart' : 'live'
    if (from !== to) changes.push({ path: 'cloudInit.storage', from, to, effect })
  },
  update({ spec: vm }, config, params, chosen) {
    if (vm.cloudInit === undefined || !chosen.has('cloudInit.storage')) return
    const slot = slotOf(config) ?? vm.cloudInit.slot
    params[slot] = newDrive(vm.cloudInit)
  },
}

/** The format matters only at creation: every start rewrites the drive's content. */
function newDrive({ storage, format }: VmCloudInit): string {
  return `${storage}:cloudinit${format === undefined ? '' : `,format=${format}`}`
}

function volumeAt(config: ApiFields, slot: string): string | undefined {
  const text = textOf(config[slot])
  if (text === undefined || !text.includes('cloudinit')) return undefined
  const properties = parseProperties(text, 'file')
  const volume = properties.get('file') ?? properties.get('volume')
  return volume !== undefined && CLOUD_INIT_VOLUME.test(volume) ? volume : undefined
}

function anywhere(config: ApiFields): string | undefined {
  const slot = slotOf(config)
  return slot === undefined ? undefined : volumeAt(config, slot)
}

function slotOf(config: ApiFields): string | undefined {
  return Object.keys(config).find((key) => DRIVE_SLOT.test(key) && volumeAt(config, key) !== undefined)
}
