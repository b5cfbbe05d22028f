import type { Routes } from '../../call.ts'

/** Ready-made groups of protocol and ports that a rule may name. */
const NAMES =
  'Amanda Auth BGP BitTorrent BitTorrent32 CVS Ceph Citrix DAAP DCC DHCPfwd DHCPv6 DNS Distcc FTP ' +
  'Finger GNUnet GRE Git HKP HTTP HTTPS ICPV2 ICQ IMAP IMAPS IPIP IPsec IPsecah IPsecnat IRC Jetdirect ' +
  'L2TP LDAP LDAPS MDNS MSNP MSSQL Mail Munin MySQL NNTP NNTPS NTP NeighborDiscovery OSPF OpenVPN PCA ' +
  'PMG POP3 POP3S PPtP Ping PostgreSQL Printer RDP RIP RNDC Razor Rdate Rsync SANE SMB SMBswat SMTP ' +
  'SMTPS SNMP SPAMD SPICEproxy SSH SVN SixXS Squid Submission Syslog TFTP Telnet Telnets Time Trcrt VNC ' +
  'VNCL Web Webcache Webmin Whois'

export const MACROS: ReadonlySet<string> = new Set(NAMES.split(' '))

export const firewallMacroRoutes: Routes = {
  'GET /cluster/firewall/macros': () => [...MACROS].map((macro) => ({ macro, descr: `${macro} traffic` })),
}

const PREFERRED: ReadonlyMap<string, string> = new Map([...MACROS].map((macro) => [macro.toLowerCase(), macro]))

/** A macro in its own spelling, however it was written. */
export function preferredMacro(name: string): string {
  return PREFERRED.get(name.toLowerCase()) ?? name
}
