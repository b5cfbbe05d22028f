/** Name, guest and time of a backup are in its file name. */
export function backupName(name: string): { type: string; vmid: number; seconds: number; format: string } | undefined {
  const parts = /^backup\/vzdump-(qemu|lxc|openvz)-(\d+)-(\d{4})_(\d\d)_(\d\d)-(\d\d)_(\d\d)_(\d\d)\.(.+)$/.exec(name)
  if (parts === null) return undefined
  const [, type = '', vmid, year, month, day, hour, minute, second, format = ''] = parts
  const seconds =
    Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)) / 1000
  return { type, vmid: Number(vmid), seconds, format }
}

/** Whose backup it is can be told from less of its name. */
export function backupOwner(name: string): number | undefined {
  const vmid = /^backup\/vzdump-(?:qemu|lxc|openvz)-(\d+)-./.exec(name)?.[1]
  return vmid === undefined ? undefined : Number(vmid)
}
