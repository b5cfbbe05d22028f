/** Commands of a VM's monitor that only root may give: they reach files, sockets or devices of the host. */
const ROOT =
  'backup block_stream change chardev-add chardev-change chardev-remove client_migrate_info device_add device_del ' +
  'drive_add drive_backup drive_del drive_mirror dump-guest-memory dumpdtb gdbserver hostfwd_add hostfwd_remove logfile ' +
  'mce memsave migrate migrate_incoming migrate_recover nbd_server_add nbd_server_remove nbd_server_start ' +
  'nbd_server_stop netdev_add netdev_del nmi o object_add object_del pcie_aer_inject_error pmemsave qom-set savevm-end ' +
  'savevm-start screendump snapshot_blkdev watchdog_action wavcapture xen-event-inject xen-event-list'
/** Commands for those who may change the whole site. */
const MODIFY =
  'gpa2hpa gpa2hva i announce_self backup_cancel balloon block_job_cancel block_job_complete block_job_pause ' +
  'block_job_resume block_job_set_speed block_resize block_set_io_throttle boot_set calc_dirty_rate ' +
  'cancel_vcpu_dirty_limit chardev-send-break closefd commit cont c cpu delvm eject exit_preconfig expire_password ' +
  'getfd gva2gpa loadvm log migrate_cancel migrate_continue migrate_pause migrate_set_capability migrate_set_parameter ' +
  'migrate_start_postcopy mouse_button mouse_move mouse_set one-insn-per-tb print p qemu-io qom-get qom-list quit q ' +
  'replay_break replay_delete_break replay_seek ringbuf_read ringbuf_write savevm sendkey set_link set_password ' +
  'set_vcpu_dirty_limit snapshot_blkdev_internal snapshot_delete_blkdev_internal stopcapture stop s sum sync-profile ' +
  'system_powerdown system_reset system_wakeup trace-event x x_colo_lost_heartbeat xp'

const NEEDS: ReadonlyMap<string, 'none' | 'root' | 'modify'> = new Map([
  ...['help', '?', 'info'].map((name) => [name, 'none'] as const),
  ...ROOT.split(' ').map((name) => [name, 'root'] as const),
  ...MODIFY.split(' ').map((name) => [name, 'modify'] as const),
])

/** Why somebody may not give a command; `modify` when it depends on a right; undefined when nothing stands against it. */
export function monitorRefusal(command: string, isRoot: boolean): { readonly text: string } | 'modify' | undefined {
  const name = /^\s*(\S+)/.exec(command)?.[1]
  if (name === undefined) return { text: `unexpected command '${command}'` }
  const need = NEEDS.get(name)
  if (need === 'modify') return 'modify'
  if (isRoot || need === 'none') return undefined
  return {
    text:
      need === 'root'
        ? `root-only command '${name}'`
        : `command '${name}' non-existent or not assigned a required permission yet, limiting to root user`,
  }
}
