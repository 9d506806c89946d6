// Command terraform-provider-proxmox stands in for bpg/proxmox: VMs with that provider's schema, as far as a
// plan of a NIC shows it, kept as JSON files in a folder instead of on a hypervisor.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/hashicorp/terraform-plugin-sdk/v2/diag"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/customdiff"
	"github.com/hashicorp/terraform-plugin-sdk/v2/helper/schema"
	"github.com/hashicorp/terraform-plugin-sdk/v2/plugin"
)

func main() {
	plugin.Serve(&plugin.ServeOpts{ProviderFunc: provider})
}

func provider() *schema.Provider {
	return &schema.Provider{
		Schema: map[string]*schema.Schema{
			"folder": {Type: schema.TypeString, Required: true},
		},
		ResourcesMap: map[string]*schema.Resource{"proxmox_virtual_environment_vm": vm()},
		ConfigureContextFunc: func(_ context.Context, d *schema.ResourceData) (any, diag.Diagnostics) {
			return d.Get("folder").(string), nil
		},
	}
}

// What is kept of a VM, beside its id.
var kept = []string{
	"name", "node_name", "vm_id", "tags", "cpu", "memory", "network_device", "initialization",
	"ipv4_addresses",
}

func vm() *schema.Resource {
	return &schema.Resource{
		CreateContext: put,
		ReadContext:   read,
		UpdateContext: put,
		DeleteContext: remove,
		Importer:      &schema.ResourceImporter{StateContext: schema.ImportStatePassthroughContext},
		// What the guest's agent tells of is known anew once a NIC was added.
		CustomizeDiff: customdiff.ComputedIf(
			"ipv4_addresses",
			func(_ context.Context, d *schema.ResourceDiff, _ any) bool {
				return d.HasChange("network_device")
			},
		),
		Schema: map[string]*schema.Schema{
			"name":           {Type: schema.TypeString, Optional: true},
			"node_name":      {Type: schema.TypeString, Required: true, ForceNew: true},
			"vm_id":          {Type: schema.TypeInt, Required: true, ForceNew: true},
			"tags":           texts(),
			"timeout_create": {Type: schema.TypeInt, Optional: true},
			"cpu": block(1, map[string]*schema.Schema{
				"cores": {Type: schema.TypeInt, Optional: true, Default: 1},
				"type":  {Type: schema.TypeString, Optional: true, Default: "host"},
			}),
			"memory": block(1, map[string]*schema.Schema{
				"dedicated": {Type: schema.TypeInt, Optional: true, Default: 512},
			}),
			"network_device": block(0, map[string]*schema.Schema{
				"bridge":       {Type: schema.TypeString, Optional: true, Default: "vmbr0"},
				"disconnected": {Type: schema.TypeBool, Optional: true, Default: false},
				"enabled":      {Type: schema.TypeBool, Optional: true, Default: true},
				"firewall":     {Type: schema.TypeBool, Optional: true, Default: false},
				"mac_address":  {Type: schema.TypeString, Optional: true, Computed: true},
				"model":        {Type: schema.TypeString, Optional: true, Default: "virtio"},
				"mtu":          {Type: schema.TypeInt, Optional: true, Default: 0},
				"queues":       {Type: schema.TypeInt, Optional: true, Default: 0},
				"rate_limit":   {Type: schema.TypeFloat, Optional: true, Default: 0},
				"vlan_id":      {Type: schema.TypeInt, Optional: true, Default: 0},
			}),
			"initialization": block(1, map[string]*schema.Schema{
				"datastore_id": {Type: schema.TypeString, Optional: true, Default: "local-lvm"},
				"ip_config": block(0, map[string]*schema.Schema{
					"ipv4": block(1, map[string]*schema.Schema{
						"address": {Type: schema.TypeString, Optional: true, Default: ""},
						"gateway": {Type: schema.TypeString, Optional: true, Default: ""},
					}),
				}),
				"user_account": block(1, map[string]*schema.Schema{
					"username": {Type: schema.TypeString, Optional: true, Default: ""},
					"password": {Type: schema.TypeString, Optional: true, Sensitive: true},
				}),
			}),
			"ipv4_addresses": {
				Type:     schema.TypeList,
				Computed: true,
				Elem:     &schema.Schema{Type: schema.TypeList, Elem: &schema.Schema{Type: schema.TypeString}},
			},
		},
	}
}

func block(most int, attributes map[string]*schema.Schema) *schema.Schema {
	return &schema.Schema{
		Type:     schema.TypeList,
		Optional: true,
		MaxItems: most,
		Elem:     &schema.Resource{Schema: attributes},
	}
}

func texts() *schema.Schema {
	return &schema.Schema{
		Type: schema.TypeList, Optional: true, Elem: &schema.Schema{Type: schema.TypeString},
	}
}

func put(ctx context.Context, d *schema.ResourceData, folder any) diag.Diagnostics {
	id := d.Get("vm_id").(int)
	values := map[string]any{}
	for _, name := range kept {
		values[name] = d.Get(name)
	}
	addresses := []any{[]any{"127.0.0.1"}}
	for number, each := range d.Get("network_device").([]any) {
		nic := each.(map[string]any)
		if nic["mac_address"] == "" {
			nic["mac_address"] = fmt.Sprintf("BC:24:11:00:%02X:%02X", id%256, number)
		}
		addresses = append(addresses, []any{fmt.Sprintf("192.0.2.%d", 100+number)})
	}
	values["ipv4_addresses"] = addresses
	text, err := json.MarshalIndent(values, "", "  ")
	if err == nil {
		err = os.WriteFile(file(folder, id), text, 0o600)
	}
	if err != nil {
		return diag.FromErr(err)
	}
	d.SetId(strconv.Itoa(id))
	return read(ctx, d, folder)
}

func read(_ context.Context, d *schema.ResourceData, folder any) diag.Diagnostics {
	id, err := strconv.Atoi(d.Id())
	if err != nil {
		return diag.FromErr(err)
	}
	text, err := os.ReadFile(file(folder, id))
	if errors.Is(err, fs.ErrNotExist) {
		d.SetId("")
		return nil
	}
	values := map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &values)
	}
	for _, name := range kept {
		if err == nil {
			err = d.Set(name, values[name])
		}
	}
	return diag.FromErr(err)
}

func remove(_ context.Context, d *schema.ResourceData, folder any) diag.Diagnostics {
	return diag.FromErr(os.Remove(file(folder, d.Get("vm_id").(int))))
}

func file(folder any, id int) string {
	return filepath.Join(folder.(string), fmt.Sprintf("%d.json", id))
}
