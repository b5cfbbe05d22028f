/**
 * The first lines of the programs that croft sends to hosts, by which they are told from any other: by a person who
 * finds one among the processes of a host, and by the simulator, which answers them instead of running them.
 */
export const HOST_PROGRAMS = {
  probe: '# croft: looks at this host',
  batch: '# croft: changes this host',
  arm: '# croft: takes a change back unless it is confirmed',
  disarm: '# croft: keeps a change',
  reboot: '# croft: restarts this host',
  edit: '# croft: changes lines of a file',
} as const
