// The life of a machine as cluster-api-provider-proxmox lives it, with its own client: a template is found by its tags,
// copied, set up, grown, seeded with an image of its own, started, asked for cloud-init and deleted.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-logr/logr"
	capmox "github.com/ionos-cloud/cluster-api-provider-proxmox/pkg/proxmox"
	"github.com/ionos-cloud/cluster-api-provider-proxmox/pkg/proxmox/goproxmox"
	"github.com/luthermonson/go-proxmox"
)

const (
	node     = "fun-bedbug"
	template = 7000
	copied   = 7001
)

var ctx = context.Background()

func must(what string, err error) {
	if err != nil {
		fmt.Printf("%s: %v\n", what, err)
		os.Exit(1)
	}
}

func check(what string, ok bool) {
	if !ok {
		must(what, fmt.Errorf("it is not so"))
	}
}

func main() {
	insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	id, secret, _ := strings.Cut(os.Args[2], "=")
	client, err := goproxmox.NewAPIClient(ctx, logr.Discard(), os.Args[1],
		proxmox.WithHTTPClient(insecure), proxmox.WithAPIToken(id, secret))
	must("client", err)
	// Its controller keeps the id of a task and asks again when it comes by.
	done := func(what string, task *proxmox.Task, err error) {
		must(what, err)
		for end := time.Now().Add(time.Minute); task != nil && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			seen, err := client.GetTask(ctx, string(task.UPID))
			must(what, err)
			if seen.IsCompleted {
				check(what+" ended well, not with "+seen.ExitStatus, seen.IsSuccessful)
				return
			}
		}
	}
	fetch := func(vmid int64) *proxmox.VirtualMachine {
		vm, err := client.GetVM(ctx, node, vmid)
		must("vm", err)
		return vm
	}

	host, err := client.Node(ctx, node)
	must("node", err)
	task, err := host.NewVirtualMachine(ctx, template,
		proxmox.VirtualMachineOption{Name: "name", Value: "ubuntu-k8s"},
		proxmox.VirtualMachineOption{Name: "agent", Value: "1"},
		proxmox.VirtualMachineOption{Name: "memory", Value: 2048},
		proxmox.VirtualMachineOption{Name: "tags", Value: "capi;K8s"},
		proxmox.VirtualMachineOption{Name: "net0", Value: "virtio,bridge=vmbr0"},
		proxmox.VirtualMachineOption{Name: "scsi0", Value: "local-zfs:0,import-from=local:import/noble-server-cloudimg-amd64.qcow2"})
	done("create", task, err)
	task, err = fetch(template).ConvertToTemplate(ctx)
	done("convert", task, err)

	where, which, err := client.FindVMTemplateByTags(ctx, []string{"K8s", "capi"}, "exact")
	must("template by tags", err)
	check("the template", where == node && which == template)
	memory, err := client.GetReservableMemoryBytes(ctx, node, 100)
	must("memory", err)
	check("memory to reserve", memory > 0)
	free, err := client.CheckID(ctx, copied)
	must("check id", err)
	check("the id is free", free)

	answer, err := client.CloneVM(ctx, template, capmox.VMCloneRequest{
		Node: node, NewID: copied, Name: "worker-1", Description: "a worker", Full: 1, Storage: "local-zfs", Target: node,
	})
	must("clone", err)
	check("the id of the copy", answer.NewID == copied)
	done("clone", answer.Task, nil)
	found, err := client.FindVMResource(ctx, copied)
	must("resource", err)
	check("where it is", found.Node == node)

	vm := fetch(copied)
	task, err = client.ConfigureVM(ctx, vm,
		proxmox.VirtualMachineOption{Name: "sockets", Value: 1},
		proxmox.VirtualMachineOption{Name: "cores", Value: 2},
		proxmox.VirtualMachineOption{Name: "memory", Value: 4096},
		proxmox.VirtualMachineOption{Name: "net0", Value: "virtio=BC:24:11:2E:C5:4A,bridge=vmbr0,mtu=1500"},
		proxmox.VirtualMachineOption{Name: "net1", Value: "virtio,bridge=vmbr0,tag=20"})
	done("configure", task, err)
	task, err = client.TagVM(ctx, fetch(copied), "ip_net0_192.168.4.90")
	done("tag", task, err)
	task, err = client.ResizeDisk(ctx, fetch(copied), "scsi0", "20G")
	done("resize", task, err)
	vm = fetch(copied)
	check("the size", strings.Contains(vm.VirtualMachineConfig.SCSI0, "size=20G"))
	check("the tag", vm.HasTag("ip_net0_192.168.4.90"))
	must("seed", vm.CloudInit(ctx, "ide0", "#cloud-config\n", "instance-id: worker-1\n", "", "version: 2\n"))
	vm = fetch(copied)
	check("the image is in, not "+vm.VirtualMachineConfig.IDE0, strings.Contains(vm.VirtualMachineConfig.IDE0, "iso/"))

	task, err = client.StartVM(ctx, vm)
	done("start", task, err)
	vm = fetch(copied)
	check("it runs", vm.IsRunning())
	running, err := true, error(nil)
	for tries := 0; tries < 60 && (running || err != nil); tries++ {
		if running, err = client.CloudInitStatus(ctx, vm); err != nil && errors.Is(err, goproxmox.ErrCloudInitFailed) {
			break
		}
	}
	must("cloud-init", err)
	check("cloud-init has ended", !running)
	must("unmount", client.UnmountCloudInitISO(ctx, vm, "ide0"))

	// It asks for the stop and for the end in one breath; its controller comes back when the second is refused.
	task, err = client.DeleteVM(ctx, node, copied)
	for tries := 0; tries < 100 && err != nil && strings.Contains(err.Error(), "is running - destroy failed"); tries++ {
		time.Sleep(50 * time.Millisecond)
		task, err = client.DeleteVM(ctx, node, copied)
	}
	done("delete", task, err)
	_, err = client.DeleteVM(ctx, node, copied)
	check("it is gone", errors.Is(err, goproxmox.ErrVMIDFree))
	task, err = client.DeleteVM(ctx, node, template)
	done("delete the template", task, err)
	fmt.Println("every step was taken")
}
